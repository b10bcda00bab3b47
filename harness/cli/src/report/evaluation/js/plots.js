// Plots: one figure per scenario with four panels over one time axis, and the map of
// delay against utilisation.

const PANELS = [
  { title: "Congestion window, packets", unit: "packets", of: "flow", column: "cwnd_packets", digits: 1, controlled: true, zero: true },
  { title: "Round-trip time, ms", unit: "ms", of: "flow", column: "rtt_ms", digits: 1, controlled: true, zero: "auto" },
  { title: "Goodput, Mbit/s", unit: "Mbit/s", of: "flow", column: "goodput_mbps", digits: 2, zero: true },
  { title: "Queue, packets", unit: "packets", of: "queue", column: "packets", digits: 1, zero: true },
];
const STACK_DASHES = ["solid", "dash", "dot", "dashdot"];
const STACK_SYMBOLS = Object.keys(SYMBOLS);

/** The runs of a scenario that are plotted, in the order of colours. */
const shownRuns = (scenario) => doneRuns(scenario).filter(selection.shows).sort(selection.bySlot);

const whose = (run) => [called(run.controller), ...(results.stacks.length > 1 ? [run.stack] : [])].join(" · ");
const dashOf = (stack) => STACK_DASHES[results.stacks.indexOf(stack) % STACK_DASHES.length];

/** Lines of the scenario's plotted runs: who, how drawn. */
function plottedLines(scenario) {
  const runs = shownRuns(scenario);
  return runs.length === 1 ? linesOfOne(runs[0]) : runs.flatMap(linesAmongMany);
}

/** One colour per run; further flows are thin, and of the queues the first is drawn. */
function linesAmongMany(run) {
  const style = { colour: selection.colour(run.controller), dash: dashOf(run.stack) };
  const flows = run.flows.map((flow, i) => ({
    of: "flow", name: run.flows.length > 1 ? `${whose(run)} · ${flow.name}` : whose(run), series: flow.series,
    controlled: flow.controller !== "", ...style, width: i === 0 ? 1.8 : 1.1, opacity: i === 0 ? 1 : 0.75,
  }));
  const queues = run.queues.slice(0, 1).map((queue) => ({ of: "queue", name: whose(run), series: queue.series, ...style, width: 1.5 }));
  return [...flows, ...queues];
}

/** One colour per flow, and all queues. */
function linesOfOne(run) {
  const alone = run.flows.length === 1;
  const flows = run.flows.map((flow, i) => ({
    of: "flow", name: flow.name, series: flow.series, controlled: flow.controller !== "",
    colour: alone ? selection.colour(run.controller) : lineColour(i), width: 1.6,
  }));
  const queues = run.queues.map((queue, i) => ({ of: "queue", name: queue.name, series: queue.series, colour: run.queues.length === 1 ? "ink" : lineColour(i), width: 1.5 }));
  return [...flows, ...queues];
}

/** A column of a series as a line, made once. */
const lineOfColumn = (series, column) => { series.made ??= {}; series.made[column] ??= new Line(series.time_s, series[column]); return series.made[column]; };

/** The figure of a scenario. */
function scenarioSpec(scene) {
  const lines = plottedLines(scene.name);
  const one = shownRuns(scene.name).length === 1;
  const panels = PANELS.map(({ of, column, controlled, ...panel }) => ({
    ...panel, names: one ? undefined : false,
    lines: lines.filter((line) => line.of === of && (!controlled || line.controlled)).map(({ series, ...line }) => ({
      ...line, key: `${of} ${line.name}`, kind: "straight", digits: panel.digits, data: lineOfColumn(series, column),
    })),
  }));
  return { file: `${scene.name}-over-time`, whole: [0, scene.duration_s], panels };
}

/** The map of all controllers: mean delay against mean utilisation. */
function mapSpec() {
  const rows = results.ranking.filter((row) => row.utilisation !== null && row.rtt_ratio !== null);
  const point = (row) => ({
    x: row.rtt_ratio, y: row.utilisation * 100, symbol: STACK_SYMBOLS[results.stacks.indexOf(row.stack) % STACK_SYMBOLS.length],
    text: `${called(row.controller)} on ${row.stack}: RTT ÷ base ${row.rtt_ratio.toFixed(2)}, utilisation ${(row.utilisation * 100).toFixed(1)} %, score ${row.score === null ? "–" : shown("score", row.score)}`,
  });
  const chosen = (row) => ({ ...point(row), size: 5.5, label: called(row.controller), colour: selection.colour(row.controller) });
  return {
    hint: "Point at a controller, or use the arrow keys, to read its values.",
    x: { title: "mean RTT ÷ base RTT (lower is better)", zero: false }, y: { title: "mean utilisation, %", zero: false },
    series: [
      { kind: "dots", colour: "ink-faint", points: rows.filter((row) => !selection.shows(row)).map((row) => ({ ...point(row), size: 3.5 })) },
      { kind: "dots", colour: "ink", points: rows.filter(selection.shows).map(chosen) },
    ],
  };
}
