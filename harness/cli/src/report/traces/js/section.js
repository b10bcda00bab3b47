// The section of a trace: its figure, the same in words and numbers.

/** All measures of a trace, as `windlass qlog metrics` calls them. */
function measuresTable(trace) {
  const number = (value) => (Number.isInteger(value) ? grouped.format(value) : Number(value.toPrecision(6)).toString());
  const rows = Object.entries(trace.measures).filter(([, value]) => value !== null).map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, number(value))));
  const states = trace.time_in_states_s.map(([name, time]) =>
    el("tr", {}, el("th", { scope: "row" }, `in ${stateWords(name)}, s`), el("td", { class: "number" }, time.toFixed(3))));
  return el("details", { class: "more measures" }, el("summary", {}, "All measures"),
    el("div", { class: "table narrow", role: "region", tabindex: "0", "aria-label": `Measures of ${trace.name}` },
      el("table", {}, el("caption", { class: "visually-hidden" }, `Measures of ${trace.name}`), el("tbody", {}, ...rows, ...states))));
}

/** What the figure shows, in words. */
function captionOf(trace) {
  const fixed = (name, digits, scale = 1) => { const value = measure(trace, name); return value === null ? null : (value * scale).toFixed(digits); };
  const say = (value, text) => (value === null ? [] : [text(value)]);
  const states = trace.time_in_states_s.map(([name, time]) => `${time.toFixed(2)} s in ${stateWords(name)}`);
  return [
    `${trace.duration_s.toFixed(2)} seconds`,
    ...say(fixed("cwnd_mean_bytes", 1, 1e-3), (mean) => `congestion window ${fixed("cwnd_min_bytes", 1, 1e-3)} to ${fixed("cwnd_max_bytes", 1, 1e-3)} kB, ${mean} kB in the mean`),
    ...say(fixed("rtt_p50_ms", 2), (median) => `RTT ${fixed("rtt_min_ms", 2)} to ${fixed("rtt_max_ms", 2)} ms, half of the samples below ${median} ms`),
    ...say(fixed("goodput_mbps", 3), (rate) => `goodput ${rate} Mbit/s`),
    ...say(fixed("received_goodput_mbps", 3), (rate) => `${rate} Mbit/s received`),
    ...(states.length ? [states.join(", ")] : []),
  ].join("; ") + ".";
}

/** How many packets were sent and lost, for the head of a section. */
function lossText(trace) {
  const [sent, lost, percent] = ["packets_sent", "packets_lost", "loss_percent"].map((name) => measure(trace, name));
  if (sent === null) return null;
  const inferred = trace.losses === "inferred" ? ", by what its acknowledgements leave out" : "";
  return lost === null ? `${grouped.format(sent)} packets sent, losses not logged`
    : `${grouped.format(lost)} of ${grouped.format(sent)} packets lost${percent === null ? "" : ` (${percent.toFixed(2)} %)`}${inferred}`;
}

/** Which lines hold fewer points than the trace has values. */
function thinned(trace) {
  const lines = trace.lines.filter(({ points, values }) => values > points);
  if (!lines.length) return [];
  const each = (some) => some.map(({ name, points, values }) => `${words(name)} (${grouped.format(values)} values, ${grouped.format(points)} points)`).join(", ");
  const lanes = new Set(LANES.filter(({ kind }) => kind === "spans").map(({ of }) => of));
  const [levels, held] = [lines.filter(({ name }) => !lanes.has(name)), lines.filter(({ name }) => lanes.has(name))];
  const said = [...(levels.length ? [`of ${each(levels)} it holds the least and the largest of several values in a row`] : []),
    ...(held.length ? [`of ${each(held)} how long each held within short spans`] : [])];
  return [el("p", { class: "note" }, `Not every value is on this page: ${said.join("; ")}. `,
    "Zooming in does not reach single events there; give fewer files at once, or cut the trace.")];
}

/** The shown range as rows of a table, for those who do not see the figure. */
function valuesTable(trace, figure) {
  const ROWS = 20;
  const details = el("details", { class: "more values" }, el("summary", {}, "The times shown, as a table"));
  const body = el("tbody");
  const has = (name) => trace.lines.some((line) => line.name === name);
  const wanted = [["congestion_window", "Window", "kB"], ["bytes_in_flight", "In flight", "kB"], ["smoothed_rtt", "Smoothed RTT", "ms"], ["latest_rtt", "Latest RTT", "ms"],
    ["pacing_rate", "Pacing", "Mbit/s"]].filter(([name]) => has(name));
  const heads = ["From, s", ...wanted.map(([, label, unit]) => `${label}, ${unit}`), ...(has("sent") ? ["Throughput, Mbit/s"] : []),
    ...(has("received") ? ["Received goodput, Mbit/s"] : []), ...(has("delivered") ? ["Goodput, Mbit/s"] : []), ...(has("lost") ? ["Lost"] : []), ...(has("marked") ? ["Marks"] : []), ...(has("state") ? ["State"] : [])];
  const fill = async () => {
    if (!details.open) return;
    const lines = await trace.load();
    const [from, to] = figure.view;
    const step = (to - from) / ROWS;
    const grown = (name, begin, end) => (lines.get(name).at(end) ?? 0) - (lines.get(name).at(begin) ?? 0);
    const rows = Array.from({ length: ROWS }, (_, i) => {
      const [begin, end] = [from + i * step, from + (i + 1) * step];
      const at = (name) => { const value = lines.get(name).at(end); return value === null ? "–" : (value * QUANTITIES[name].scale).toFixed(Math.min(2, QUANTITIES[name].digits)); };
      const state = has("state") ? lines.get("state").at(end) : null;
      const cells = [...wanted.map(([name]) => at(name)), ...["sent", "received", "delivered"].filter(has).map((name) => (grown(name, begin, end) * 8e-6 / step).toFixed(2)),
        ...["lost", "marked"].filter(has).map((name) => String(grown(name, begin, end))), ...(has("state") ? [state === null ? "–" : stateWords(trace.states[state])] : [])];
      return el("tr", {}, el("th", { scope: "row", class: "number" }, begin.toFixed(timeDigits(to - from))), ...cells.map((text) => el("td", { class: "number" }, text)));
    });
    body.replaceChildren(...rows);
  };
  details.append(el("div", { class: "table", role: "region", tabindex: "0", "aria-label": `Values of ${trace.name} over time` },
    el("table", {}, el("caption", { class: "visually-hidden" }, `Values of ${trace.name} over time: levels at the end of each row's time, rates and counts within it`),
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col", class: "number plain" }, head)))), body)));
  details.addEventListener("toggle", fill);
  for (const event of ["ranged", "told"]) figure.holder.addEventListener(event, fill);
  return details;
}

/**
 * The section of `trace`: what a page tells of a connection (`id`, `name`, `file`, `states`, `lines`,
 * `measures`, …; see `Section` in Rust), and `load()`, which gives its lines decoded.
 */
function traceSection(trace) {
  const [title, caption] = [`${trace.id}-title`, `${trace.id}-caption`];
  const facts = () => [trace.controller, trace.implementation && `by ${trace.implementation}`, trace.vantage !== "unknown" && `seen at the ${trace.vantage}`, trace.quic_version && `QUIC ${trace.quic_version}`,
    trace.group && `connection ${trace.group}`,
    trace.ahead_s != null && `its clock is ${Math.abs(trace.ahead_s * 1e3).toFixed(3)} ms ${trace.ahead_s < 0 ? "behind" : "ahead of"} that of the other end, by the handshake`, lossText(trace), trace.file, trace.bad_records > 0 && `${plural(trace.bad_records, "record")} could not be read`].filter(Boolean).join(" · ");
  const told = el("p", { class: "facts" }, facts());
  const head = [el("h2", { id: title, class: "as-is" }, trace.name), told, ...thinned(trace)];
  const spec = traceSpec(trace, null);
  if (!spec.panels.length || !(trace.duration_s > 0)) {
    const section = el("section", { id: trace.id, "aria-labelledby": title }, ...head, el("p", {}, "Nothing in this trace can be drawn over time."), measuresTable(trace));
    // A trace that has only begun may tell something yet.
    trace.update = async () => section.replaceWith(traceSection(trace));
    return section;
  }
  trace.selection = new Selection();
  const holder = figureHolder(`Chart of ${trace.name}: window, round-trip time, rates, data, losses and states over time`, caption);
  const figure = new Figure(holder, spec);
  const inWords = el("figcaption", { id: caption, class: "hint" }, captionOf(trace));
  /** Shows what the trace tells by now. */
  trace.update = async () => {
    told.textContent = facts();
    inWords.textContent = captionOf(trace);
    trace.tellEndpoints();
    trace.other = await otherEnd(trace);
    figure.set(traceSpec(trace, await trace.load(), await trace.loadPackets?.()));
    figure.holder.dispatchEvent(new Event("told"));
  };
  const section = el("section", { id: trace.id, "aria-labelledby": title }, ...head,
    el("div", { class: "tools" }, figure.controls()),
    el("figure", {}, holder, ...(trace.packets ? [chosenPacket(trace, figure)] : []), inWords),
    requestsTable(trace, figure), ...(trace.packets ? [packetsTable(trace, figure), packetizationView(trace, figure), multiplexingView(trace, figure), statisticsTables(trace, figure)] : []),
    ...(trace.loadEvents ? [eventsTable(trace, figure)] : []), endpointsTables(trace), valuesTable(trace, figure), measuresTable(trace));
  address.keep(trace, figure, section.querySelectorAll("details.more"));
  return section;
}
