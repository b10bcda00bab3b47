// Traces over one time axis, each from its own beginning; both ends of a connection on one clock.

/** Traces that are drawn over each other at most. */
const MOST_OVERLAID = 32;

/** The lines of a trace on the clock it shares with others, to the ns, so that equal times stay equal. */
function onCommonClock(trace, lines) {
  if (!lines || !trace.later_s) return lines;
  return new Map([...lines].map(([name, line]) => [name, new Line(line.times.map((time) => Math.round((time + trace.later_s) * 1e9) * 1e-9), line.values)]));
}

/** Panels of an overlay: the first quantity of `of` that a trace has. */
const OVERLAY = [
  { title: "Congestion window, kB", unit: "kB", digits: 1, zero: true, of: ["congestion_window"] },
  { title: "Bytes in flight, kB", unit: "kB", digits: 1, zero: true, of: ["bytes_in_flight"] },
  { title: "Round-trip time, ms", unit: "ms", digits: 2, zero: "auto", of: ["smoothed_rtt", "latest_rtt"] },
  { title: "Goodput, or throughput, Mbit/s", unit: "Mbit/s", digits: 2, zero: true, of: ["delivered", "received", "sent"], rate: true },
];

/** The figure of those of `traces` that are `shown`, each `{ trace, lines, name, colour, … }`: its decoded lines, what it is called, how its lines are drawn. */
function overlaySpec(traces, shown) {
  const quantityOf = (trace, of) => {
    const has = of.filter((name) => trace.lines.some((line) => line.name === name));
    // Who asks for data sends a little, and receives much.
    const receives = has.includes("received") && (measure(trace, "received_goodput_mbps") ?? 0) > (measure(trace, "goodput_mbps") ?? 0);
    return receives ? "received" : has[0];
  };
  const panels = OVERLAY.filter(({ of }) => traces.some((trace) => quantityOf(trace, of))).map(({ of, rate, ...panel }) => ({
    ...panel, names: false,
    lines: shown.flatMap(({ trace, lines, name, ...style }) => {
      const quantity = quantityOf(trace, of);
      if (!quantity) return [];
      const sampled = quantity === "latest_rtt" ? { kind: "samples" } : {};
      const line = lineOf({ ...trace, duration_s: trace.duration_s + (trace.later_s ?? 0) }, onCommonClock(trace, lines), { of: quantity, ...(rate ? { as: quantity } : {}), ...sampled, ...style });
      return [{ ...line, key: `${traces.indexOf(trace)} ${quantity}`, quantity, name, digits: panel.digits }];
    }),
  }));
  return { file: `${traces.slice(0, 3).map(({ name }) => name).join("-")}${traces.length > 3 ? "-and-others" : ""}-over-each-other`, whole: [0, Math.max(...traces.map((trace) => (trace.later_s ?? 0) + trace.duration_s))], panels, pending: null };
}

/** What is said of the clocks of `traces`. */
function clocksText(traces) {
  const aligned = traces.filter(({ ahead_s: ahead }) => ahead != null);
  if (!aligned.length) return "each from its own beginning";
  const each = aligned.map(({ name, ahead_s: ahead }) => `the clock of ${name} is ${Math.abs(ahead * 1e3).toFixed(3)} ms ${ahead < 0 ? "behind" : "ahead of"} that of the other end`);
  return `both ends of a connection on one clock: by the handshake, as if both ways took the same time, ${each.join(", ")}; others from their own beginning`;
}

/** A section that draws `traces` over each other; `hidden` holds the ids of those that are not shown, `decoded` of a trace its lines. `load` gets them where they are not there yet. */
function togetherSection(traces, hidden, load = null) {
  const all = traces.slice(0, MOST_OVERLAID);
  const style = (i) => ({ colour: lineColour(i), dash: Object.keys(DASHES)[Math.floor(i / SLOTS)] });
  const shown = () => all.flatMap((trace, i) => (hidden.has(trace.id) ? [] : [{ trace, lines: trace.decoded, name: trace.name, width: 1.5, ...style(i) }]));
  const spec = () => ({ ...overlaySpec(all, shown()), pending: load && all.some(({ decoded }) => !decoded) ? async () => { await load(all); return overlaySpec(all, shown()); } : null });
  const holder = figureHolder("Chart of all traces: window, bytes in flight, round-trip time and rate over time", "overlay-caption");
  const figure = new Figure(holder, spec());
  const legend = el("ul", { class: "legend", "aria-label": "Traces" }, ...all.map((trace, i) => {
    const button = el("button", { type: "button", class: "toggle", "aria-pressed": String(!hidden.has(trace.id)), onclick: () => {
      if (!hidden.delete(trace.id)) hidden.add(trace.id);
      button.setAttribute("aria-pressed", String(!hidden.has(trace.id)));
      figure.set(spec());
      holder.dispatchEvent(new Event("toggled"));
      announce(`${trace.name} ${hidden.has(trace.id) ? "hidden" : "shown"}`);
    } }, sample(style(i)), trace.name);
    return el("li", {}, button);
  }));
  const left = traces.length - all.length;
  return el("section", { id: "overlay", "aria-labelledby": "overlay-title" }, el("h2", { id: "overlay-title" }, "Over each other"),
    el("div", { class: "tools" }, legend, figure.controls()),
    el("figure", {}, holder, el("figcaption", { id: "overlay-caption", class: "hint" },
      `${plural(all.length, "trace")}, ${clocksText(all)}${left > 0 ? `; ${left} more are not drawn here` : ""}. The summary holds what each measures.`)));
}
