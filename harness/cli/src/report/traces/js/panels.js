// The panels of a trace: windows, delays, rates, data, and what happened, over one time axis.

/** Lines that are drawn, panel by panel, where the trace has them. */
const TRACE_PANELS = [
  { title: "Window, kB", unit: "kB", digits: 1, zero: true, marked: true, lines: [
    { of: "ssthresh", colour: "line-8", dash: "dash", width: 1.2 },
    { of: "bytes_in_flight", colour: "line-7", width: 1.2 },
    { of: "congestion_window", colour: "line-1", width: 1.8 },
  ] },
  { title: "Round-trip time, ms", unit: "ms", digits: 2, zero: "auto", lines: [
    { of: "latest_rtt", kind: "samples", colour: "line-5" },
    { of: "min_rtt", colour: "line-8", dash: "dash", width: 1.2 },
    { of: "smoothed_rtt", colour: "line-6", width: 1.8 },
  ] },
  { title: "Rate, Mbit/s", unit: "Mbit/s", digits: 2, zero: true, lines: [
    { of: "pacing_rate", colour: "line-4", dash: "dash", width: 1.2 },
    { of: "sent", as: "throughput", colour: "line-2", width: 1.4 },
    { of: "received", as: "received goodput", colour: "line-6", width: 1.8 },
    { of: "delivered", as: "goodput", colour: "line-3", width: 1.8 },
  ] },
  { title: "Flow control of what is sent, MB", unit: "MB", digits: 3, height: 110, zero: "auto", lines: [
    { of: "max_data", colour: "line-8", dash: "dash", width: 1.2 },
    { of: "data_sent", colour: "line-2", width: 1.6 },
    { of: "max_stream_data", colour: "line-4", dash: "dash", width: 1.2 },
    { of: "stream_data_sent", colour: "line-3", width: 1.2 },
  ] },
  { title: "Flow control of what is received, MB", unit: "MB", digits: 3, height: 110, zero: "auto", lines: [
    { of: "local_max_data", colour: "line-8", dash: "dash", width: 1.2 },
    { of: "data_received", colour: "line-6", width: 1.6 },
  ] },
  { title: "Data in all, MB", unit: "MB", digits: 3, height: 110, zero: "auto", lines: [
    { of: "sent", colour: "line-2", width: 1.2 },
    { of: "received", colour: "line-6", width: 1.6 },
    { of: "delivered", colour: "line-3", width: 1.6 },
  ] },
];

/** What happened, a lane each, from the top. */
const LANES = [
  { of: "state", name: "state", kind: "spans" },
  { of: "lost", name: "lost", kind: "ticks", colour: "loss" },
  { of: "marked", name: "CE marks", kind: "ticks", colour: "line-4" },
  { of: "app_limited", name: "app-limited", kind: "spans", colours: [null, "line-8"], names: ["", "app-limited"] },
  { of: "limited_by", name: "limited by", kind: "spans", colours: ["line-3", "line-8", "line-5", "line-6"] },
  { of: "blocked", name: "blocked", kind: "ticks", colour: "line-2" },
];

/** Lanes that say why they are empty; others are left out. */
const ALWAYS = ["lost", "marked", "app_limited"];

const STATE_COLOURS = { slow_start: "line-1", congestion_avoidance: "ink-faint", recovery: "line-2", application_limited: "line-5" };
const OTHER_STATES = ["line-6", "line-7", "line-4", "line-3"];
/** The state of most of the time leaves the panels as they are. */
const UNTINTED = "congestion_avoidance";

/** The colour of each of a trace's states. */
function stateColours(trace) {
  const others = trace.states.filter((name) => !STATE_COLOURS[name]);
  return trace.states.map((name) => STATE_COLOURS[name] ?? OTHER_STATES[others.indexOf(name) % OTHER_STATES.length]);
}

/** A trace's line `of` as a figure takes it; without `lines` its place is kept. */
function lineOf(trace, lines, { of, as, kind, ...style }) {
  const { label, scale } = QUANTITIES[of];
  const end = trace.duration_s;
  const data = lines?.get(of);
  return as ? { key: as, name: as, kind: "rate", data, scale: 8e-6, end, bin: (span) => binWidth(trace, span), ...style }
    : { key: of, name: label, kind: kind ?? "steps", data, scale, end, ...style };
}

/** The figure of a trace from its decoded lines, or, without them, its empty panels. */
function traceSpec(trace, lines, packets = null) {
  const has = (name) => trace.lines.some((line) => line.name === name);
  const lost = measure(trace, "packets_lost");
  const panels = TRACE_PANELS.map(({ lines: wanted, marked, ...panel }) => {
    const own = wanted.filter(({ of }) => has(of)).map((line) => ({ digits: panel.digits, ...lineOf(trace, lines, line) }));
    const on = own.find(({ key }) => key === "congestion_window") ?? own.at(-1);
    const marks = marked && has("lost") && on ? [{ key: "lost", name: `packet lost${lost ? ` (${grouped.format(lost)}${trace.losses === "inferred" ? ", inferred" : ""})` : ""}`, colour: "loss", data: lines?.get("lost"), on }] : [];
    return { ...panel, lines: own, marks };
  }).filter((panel) => panel.lines.length);
  const why = new Map(trace.empty);
  const named = { state: { colours: stateColours(trace), names: trace.states.map(stateWords) }, limited_by: { names: trace.limits.map((name) => `limited by ${name}`) } };
  const lanes = LANES.filter(({ of }) => has(of) || ALWAYS.includes(of) && why.has(of)).map((lane) => (has(lane.of)
    ? { key: lane.of, ...lane, data: lines?.get(lane.of), ...named[lane.of] }
    : { key: lane.of, name: lane.name, kind: "none", note: why.get(lane.of) }));
  if (trace.found) lanes.push(trace.found.length ? { key: "found", name: "found", kind: "ticks", colour: "accent", data: trace.found } : { key: "found", name: "found", kind: "none", note: "no packet" });
  const patches = has("state") ? trace.states.map((name, i) => ({ name: stateWords(name), colour: stateColours(trace)[i] })) : [];
  const limits = LANES.find(({ of }) => of === "limited_by");
  if (has("limited_by")) patches.push(...trace.limits.map((name, i) => ({ name: `limited by ${name}`, colour: limits.colours[i] })));
  if (packets?.length && lines) panels.push(sequencePanel(trace, lines, packets, trace.other));
  else if (trace.packets?.packets && trace.loadPackets) panels.push({ title: "Sequence of packets", height: SEQUENCE_HEIGHT, draw: () => [] });
  if (lanes.length) panels.push({ title: "Events", lanes, patches });
  const streams = packets ? streamLanes(packets) : [];
  if (streams.length) {
    const more = streams.more ? `; ${plural(streams.more, "stream")} with less data are left out` : "";
    // Lanes that end there would look like streams that do.
    const until = packets.leftOut ? `; the page holds packets up to ${packets.time[packets.length - 1].toFixed(2)} s` : "";
    panels.push({ title: `Streams: ${streams.sent ? "data sent" : "data received"}, from the first packet of each to the last${more}${until}`, lanes: streams });
  }
  const tints = has("state") && lines ? { data: lines.get("state"), colours: trace.states.map((name, i) => (name === UNTINTED ? null : stateColours(trace)[i])) } : null;
  return { label: `Chart of ${trace.name}`, file: `${trace.name}-over-time`, whole: [0, trace.duration_s], panels, tints,
    pending: lines ? null : async () => { trace.other = await otherEnd(trace); return traceSpec(trace, await trace.load(), await trace.loadPackets?.()); } };
}
