// Two traces compared: over each other from the same moment, what the one has more than the other, and what changed most.

/** From which moment two traces are compared; each gives it of a trace, s, or null where that is not told. */
const ALIGNMENTS = {
  start: { label: "their start", of: async () => 0 },
  data: { label: "their first data", of: async (trace, lines) => firstData(lines) },
  handshake: { label: "their first 1-RTT packet", of: async (trace) => firstOneRtt(await trace.loadPackets?.()) },
};

/** What two traces differ in over time: the first quantity of `of` that both have. */
const DIFFERENCES = [
  { title: "congestion windows, kB", unit: "kB", digits: 1, of: ["congestion_window"] },
  { title: "smoothed round trips, ms", unit: "ms", digits: 2, of: ["smoothed_rtt", "latest_rtt"] },
  { title: "data so far, MB", unit: "MB", digits: 3, of: ["delivered", "received", "sent"] },
];

/** Points of a difference, at most. */
const DIFFERENCE_POINTS = 2 ** 16;

/** Which two are compared, and from when. */
const compared = { one: null, other: null, by: "start" };

/** When the first stream data went out or came in, s. */
function firstData(lines) {
  const times = ["data_sent", "data_received", "received"].flatMap((name) => {
    const line = lines.get(name);
    const at = line ? line.values.findIndex((value) => value > 0) : -1;
    return at < 0 ? [] : [line.times[at]];
  });
  return times.length ? Math.min(...times) : null;
}

/** When the first 1-RTT packet went out or came in, s. */
function firstOneRtt(packets) {
  const wanted = packets ? packets.types.indexOf("1RTT") : -1;
  const at = wanted < 0 ? -1 : packets.flags.findIndex((flags) => flags >> 1 === wanted);
  return at < 0 ? null : packets.time[at];
}

/** What `other` has more than `one`, each holding its values, from when both are known until `end`. */
function lessLine(one, other, end) {
  if (!one.length || !other.length) return new Line([], []);
  const from = Math.max(one.times[0], other.times[0]);
  let times = [];
  if (one.length + other.length <= DIFFERENCE_POINTS) {
    times = [from, ...[...one.times, ...other.times].filter((time) => time > from && time <= end).sort((a, b) => a - b)];
    times = times.filter((time, i) => time !== times[i - 1]);
  } else {
    for (let i = 0; i < DIFFERENCE_POINTS; i += 1) times.push(from + (end - from) * i / DIFFERENCE_POINTS);
  }
  return new Line(Float64Array.from(times), Float64Array.from(times, (time) => (other.at(time) ?? NaN) - (one.at(time) ?? NaN)));
}

/** The figure of two traces: over each other, then their differences; without their `decoded` lines its places are kept. */
function differenceOf(pair, decoded = null, offsets = [0, 0]) {
  const shifted = pair.map((trace, i) => ({ ...trace, later_s: -offsets[i] }));
  const lines = decoded && shifted.map((trace, i) => onCommonClock(trace, decoded[i]));
  const over = overlaySpec(shifted, shifted.map((trace, i) => ({ trace, lines: decoded?.[i], name: trace.name, width: 1.5, colour: lineColour(i) })));
  const end = Math.min(...shifted.map((trace) => trace.duration_s + trace.later_s));
  const panels = DIFFERENCES.flatMap(({ title, of, ...panel }) => {
    const quantity = of.find((name) => pair.every((trace) => trace.lines.some((line) => line.name === name)));
    if (!quantity) return [];
    const data = lines && lessLine(lines[0].get(quantity), lines[1].get(quantity), end);
    return [{ ...panel, title: `Difference of ${title}`, height: 110, zero: "auto", lines: [{ key: `difference ${quantity}`, name: `${pair[1].name} less ${pair[0].name}`, quantity, colour: "line-4", width: 1.6, digits: panel.digits, kind: "steps", data, scale: QUANTITIES[quantity].scale, end }] }];
  });
  return { ...over, file: `${pair[0].name}-and-${pair[1].name}`, whole: [-Math.max(...offsets), over.whole[1]], panels: [...over.panels.map((panel) => ({ ...panel, names: true })), ...panels] };
}

/** What each measure of two traces is, the one that changed most first. */
function changesTable([one, other]) {
  const rows = Object.entries(METRICS).flatMap(([name, metric]) => {
    const [before, after] = [measure(one, name), measure(other, name)];
    return before === null || after === null ? [] : [{ metric, before, after, change: after - before, share: before === after ? 0 : before === 0 ? Infinity : 100 * (after - before) / Math.abs(before) }];
  });
  const signed = (value, digits) => { const text = Math.abs(value).toFixed(digits); return Number(text) === 0 ? text : `${value > 0 ? "+" : "-"}${text}`; };
  const number = (label, value, text) => ({ label, value, text, numeric: true, better: "high" });
  const columns = [
    wordColumn("Measure", ({ metric: { label, unit } }) => (unit ? `${label}, ${unit}` : label), { header: true }),
    number(one.name, ({ before }) => before, ({ before, metric: { digits } }) => before.toFixed(digits)),
    number(other.name, ({ after }) => after, ({ after, metric: { digits } }) => after.toFixed(digits)),
    number("Difference", ({ change }) => change, ({ change, metric: { digits } }) => signed(change, digits)),
    number("Change, %", ({ share }) => Math.abs(share), ({ share }) => (Number.isFinite(share) ? signed(share, 1) : "–")),
  ];
  return sortableTable({ caption: `${other.name} against ${one.name}`, columns, rows, sortBy: "Change, %" });
}

/** A section that compares two of `traces`, which are chosen in it. */
function compareSection(traces) {
  const pair = () => ["one", "other"].map((which, i) => traces.find(({ id }) => id === compared[which]) ?? traces[i]);
  if (pair()[0] === pair()[1]) [compared.one, compared.other] = [null, null];
  const holder = figureHolder("Chart of two traces over each other, and of their differences", "compared-caption");
  const [changes, caption] = [el("div"), el("figcaption", { id: "compared-caption", class: "hint" })];
  const made = async () => {
    const two = pair();
    const decoded = await Promise.all(two.map((trace) => trace.load()));
    const told = await Promise.all(two.map((trace, i) => ALIGNMENTS[compared.by].of(trace, decoded[i])));
    const lacking = two.filter((_, i) => told[i] === null).map(({ name }) => name);
    caption.textContent = lacking.length ? `${lacking.join(" and ")}: ${ALIGNMENTS[compared.by].label.replace("their ", "the ")} is not logged; compared from the start.`
      : `${two[1].name} against ${two[0].name}, from ${ALIGNMENTS[compared.by].label}: at ${told.map((time) => `${time.toFixed(4)} s`).join(" and ")} of each.`;
    return differenceOf(two, decoded, lacking.length ? [0, 0] : told);
  };
  const show = async () => {
    changes.replaceChildren(changesTable(pair()));
    figure.set(await made());
    holder.dispatchEvent(new Event("chosen"));
  };
  const figure = new Figure(holder, { ...differenceOf(pair()), pending: made });
  const select = (label, options, value, set) => el("label", {}, `${label} `, el("select", { onchange: (event) => { set(event.target.value); show(); } }, ...options.map(([key, text]) => el("option", { value: key, selected: key === value }, text))));
  const names = traces.map(({ id, name }) => [id, name]);
  changes.append(changesTable(pair()));
  return el("section", { id: "compared", "aria-labelledby": "compared-title" }, el("h2", { id: "compared-title" }, "Two compared"),
    el("div", { class: "tools" }, el("span", { class: "choices-of-two" },
      select("Trace", names, pair()[1].id, (id) => { compared.other = id; }), select("against", names, pair()[0].id, (id) => { compared.one = id; }),
      select("from", Object.entries(ALIGNMENTS).map(([key, { label }]) => [key, label]), compared.by, (by) => { compared.by = by; })), figure.controls()),
    changes, el("figure", {}, holder, caption));
}
