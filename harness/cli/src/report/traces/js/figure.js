// The figure of one trace: windows, delays, rates, data, and what happened, over one time axis.

/** Lines that are drawn, panel by panel, where the trace has them. */
const TRACE_PANELS = [
  { title: "Window, kB", lines: [
    { of: "ssthresh", colour: "line-8", dash: "dash", width: 1.2 },
    { of: "bytes_in_flight", colour: "line-3", width: 1.2 },
    { of: "congestion_window", colour: "line-1", width: 1.8 },
  ] },
  { title: "Round-trip time, ms", lines: [
    { of: "latest_rtt", colour: "line-5", width: 1 },
    { of: "smoothed_rtt", colour: "line-1", width: 1.8 },
    { of: "min_rtt", colour: "line-8", dash: "dash", width: 1.2 },
  ] },
  { title: "Rate, Mbit/s", lines: [
    { of: "pacing_rate", colour: "line-6", dash: "dash", width: 1.2 },
    { of: "sent", as: "throughput", colour: "line-2", width: 1.4 },
    { of: "delivered", as: "goodput", colour: "line-3", width: 1.8 },
  ] },
  { title: "Data, MB in all", height: 0.8, axis: { rangemode: "normal" }, lines: [
    { of: "sent", colour: "line-2", width: 1.2 },
    { of: "delivered", colour: "line-3", width: 1.6 },
  ] },
];

/** What happened, a lane each, from the top. */
const LANES = [
  { of: "state", label: "state" },
  { of: "lost", label: "lost", colour: "line-2", one: "packet lost", many: "packets lost" },
  { of: "marked", label: "CE marks", colour: "line-4", one: "mark", many: "marks" },
  { of: "app_limited", label: "app-limited", colour: "line-8" },
];
const LANE_HEIGHT = 0.13;

const STATE_COLOURS = { slow_start: "line-1", congestion_avoidance: "ink-faint", recovery: "line-2", application_limited: "line-5" };
const OTHER_STATES = ["line-6", "line-7", "line-4", "line-3"];
/** The state of most of the time leaves the panels as they are. */
const UNTINTED = "congestion_avoidance";

/** The colour of each of a trace's states. */
function stateColours(trace) {
  const others = trace.states.filter((name) => !STATE_COLOURS[name]);
  return trace.states.map((name) => theme.colours[STATE_COLOURS[name] ?? OTHER_STATES[others.indexOf(name) % OTHER_STATES.length]]);
}

/** The panels and lanes that a trace has lines for. */
function shownOf(trace) {
  const present = new Set(trace.lines.map(({ name }) => name));
  const panels = TRACE_PANELS.map((panel) => ({ ...panel, lines: panel.lines.filter(({ of }) => present.has(of)) }));
  return { panels: panels.filter(({ lines }) => lines.length), lanes: LANES.filter(({ of }) => present.has(of)) };
}

/** The panels of a trace's figure, lanes included. */
function panelsOf(trace) {
  const { panels, lanes } = shownOf(trace);
  const ticks = { tickvals: lanes.map((_, i) => -i), ticktext: lanes.map(({ label }) => label), range: [-lanes.length + 0.45, 0.55],
    fixedrange: true, showgrid: false, ticks: "", rangemode: "normal", nticks: undefined };
  return [...panels, ...(lanes.length ? [{ title: "", height: lanes.length * LANE_HEIGHT, lines: [], lanes, axis: ticks }] : [])];
}

/** Boxes from `low` to `high`, as one filled outline. */
function boxes(spans, low, high, colour, opacity, yaxis, name) {
  const [x, y] = [[], []];
  for (const [, from, to] of spans) {
    x.push(from, to, to, from, from, null);
    y.push(low, low, high, high, low, null);
  }
  return { type: "scatter", mode: "lines", x, y, yaxis, name, fill: "toself", fillcolor: colour, opacity, line: { width: 0 }, hoverinfo: "skip" };
}

/** The figure of a trace, in the range its element shows. */
async function traceFigure(trace, holder) {
  const lines = await trace.load();
  const whole = [0, trace.duration_s];
  const range = shownRange(holder, whole);
  const [from, to] = range;
  const pixels = pixelsOf(holder);
  const panels = panelsOf(trace).map((panel) => (panel.lanes ? panel : { ...panel, axis: { rangemode: fromZero(range, whole), ...panel.axis } }));
  // The first axis spans all panels and carries the tints of the states.
  const layout = panelLayout(panels, range, 1);
  layout.yaxis = { domain: [0, 1], range: [0, 1], fixedrange: true, visible: false };
  layout.margin = { ...MARGIN, l: 74 };
  layout.hoversubplots = "axis";
  layout.xaxis = { ...layout.xaxis, hoverformat: `.${timeDigits(to - from)}f`, minallowed: 0, maxallowed: trace.duration_s };
  const width = binWidth(trace, to - from);
  const drawn = panels.flatMap((panel, i) => panel.lines.filter(({ of, as }) => !trace.hidden.has(as ?? of)).map((line) => {
    const style = { color: theme.colours[line.colour], width: line.width, dash: line.dash ?? "solid" };
    const made = line.as ? rateTrace(lines.get(line.of), line.as, range, trace.duration_s, width, style)
      : lineTrace(lines.get(line.of), line.of, range, trace.duration_s, pixels, style);
    return { ...made, yaxis: axisName(i + 1) };
  }));
  const lanes = panels.at(-1).lanes ?? [];
  const laneAxis = axisName(panels.length);
  const happened = lanes.flatMap((lane, i) => laneTraces(trace, lines.get(lane.of), lane, -i, range, pixels, laneAxis));
  return { traces: [...happened.filter(({ yaxis }) => yaxis === "y"), ...dotted(drawn, pixels), ...happened.filter(({ yaxis }) => yaxis !== "y")], layout };
}

/** A lane's boxes or ticks, and the tints of states over all panels. */
function laneTraces(trace, line, lane, y, range, pixels, yaxis) {
  if (lane.of === "state") {
    const spans = line.spans(...range, Math.round(pixels / 2));
    const colours = stateColours(trace);
    return trace.states.flatMap((name, i) => {
      const own = spans.filter(([value]) => value === i);
      if (!own.length) return [];
      const tint = name === UNTINTED ? [] : [boxes(own, 0, 1, colours[i], 0.1, "y", words(name))];
      return [...tint, boxes(own, y - 0.36, y + 0.36, colours[i], 0.75, yaxis, words(name))];
    });
  }
  const colour = theme.colours[lane.colour];
  if (lane.of === "app_limited") {
    return [boxes(line.spans(...range, Math.round(pixels / 2)).filter(([value]) => value === 1), y - 0.36, y + 0.36, colour, 0.8, yaxis, lane.label)];
  }
  const { x, by } = line.rises(...range, pixels);
  return [{
    type: "scatter", mode: "markers", x, y: x.map(() => y), yaxis, name: lane.label, meta: { lane: lane.of, by },
    text: by.map((count) => (count === 1 ? `1 ${lane.one}` : `${grouped.format(count)} ${lane.many}`)), hovertemplate: "%{text}",
    marker: { symbol: "line-ns-open", size: 11, color: colour, line: { width: 1.3, color: colour } },
  }];
}
