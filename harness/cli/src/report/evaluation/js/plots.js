// Plots: one figure per scenario with four panels over one time axis, and the map of
// delay against utilisation.

const PANELS = [
  { title: "Congestion window, packets", of: "flow", column: "cwnd_packets", digits: 1, controlled: true },
  { title: "Round-trip time, ms", of: "flow", column: "rtt_ms", digits: 1, controlled: true },
  { title: "Goodput, Mbit/s", of: "flow", column: "goodput_mbps", digits: 2 },
  { title: "Queue, packets", of: "queue", column: "packets", digits: 1 },
];

/** The runs of a scenario that are plotted, in the order of colours. */
const shownRuns = (scenario) => doneRuns(scenario).filter(selection.shows).sort(selection.bySlot);

const whose = (run) => [called(run.controller), ...(results.stacks.length > 1 ? [run.stack] : [])].join(" · ");

/** Lines of the scenario's plotted runs: who, how drawn. */
function plottedLines(scenario) {
  const runs = shownRuns(scenario);
  return runs.length === 1 ? linesOfOne(runs[0]) : runs.flatMap(linesAmongMany);
}

/** One colour per run; further flows are thin, and of the queues the first is drawn. */
function linesAmongMany(run) {
  const style = { color: selection.colour(run.controller), dash: DASHES[results.stacks.indexOf(run.stack) % DASHES.length] };
  const flows = run.flows.map((flow, i) => ({
    of: "flow", name: run.flows.length > 1 ? `${whose(run)} · ${flow.name}` : whose(run), series: flow.series,
    controlled: flow.controller !== "", line: { ...style, width: i === 0 ? 1.8 : 1.1 }, opacity: i === 0 ? 1 : 0.75,
  }));
  const queues = run.queues.slice(0, 1).map((queue) => ({
    of: "queue", name: whose(run), series: queue.series, line: { ...style, width: 1.5 }, opacity: 1,
  }));
  return [...flows, ...queues];
}

/** One colour per flow, and all queues. */
function linesOfOne(run) {
  const alone = run.flows.length === 1;
  const flows = run.flows.map((flow, i) => ({
    of: "flow", name: `${whose(run)} · ${flow.name}`, series: flow.series, controlled: flow.controller !== "",
    line: { color: alone ? selection.colour(run.controller) : lineColour(i), width: 1.6 }, opacity: 1,
  }));
  const queues = run.queues.map((queue, i) => ({
    of: "queue", name: `${whose(run)} · ${queue.name}`, series: queue.series,
    line: { color: run.queues.length === 1 ? theme.colours.ink : lineColour(i), width: 1.5 }, opacity: 1,
  }));
  return [...flows, ...queues];
}

/** The figure of a scenario. */
function scenarioFigure(scene) {
  const lines = plottedLines(scene.name);
  const layout = panelLayout(PANELS, [0, scene.duration_s]);
  const traces = PANELS.flatMap((panel, i) => {
    const drawn = lines.filter((line) => line.of === panel.of && (!panel.controlled || line.controlled));
    return drawn.map((line) => ({
      type: "scatter", mode: "lines", x: line.series.time_s, y: line.series[panel.column], yaxis: axisName(i), name: line.name,
      line: line.line, opacity: line.opacity, connectgaps: false, hovertemplate: `%{y:.${panel.digits}f}`,
    }));
  });
  return { traces, layout };
}

/** The map of all controllers: mean delay against mean utilisation. */
function mapFigure() {
  const rows = results.ranking.filter((row) => row.utilisation !== null && row.rtt_ratio !== null);
  const points = (some, extra) => ({
    type: "scatter", x: some.map((row) => row.rtt_ratio), y: some.map((row) => row.utilisation * 100),
    text: some.map((row) => called(row.controller)),
    customdata: some.map((row) => [row.stack, row.score === null ? "–" : shown("score", row.score)]),
    hovertemplate: "<b>%{text}</b> · %{customdata[0]}<br>RTT ÷ base %{x:.2f}<br>utilisation %{y:.1f} %<br>score %{customdata[1]}<extra></extra>",
    cliponaxis: false, ...extra,
  });
  const symbols = ["circle", "diamond", "square", "x"];
  const symbol = (row) => symbols[results.stacks.indexOf(row.stack) % symbols.length];
  const rest = rows.filter((row) => !selection.shows(row));
  const chosen = rows.filter((row) => selection.shows(row));
  const traces = [
    points(rest, { mode: "markers", marker: { size: 7, symbol: rest.map(symbol), color: theme.colours["ink-faint"] } }),
    points(chosen, { mode: "markers+text", textposition: chosen.map((_, i) => (i % 2 ? "bottom center" : "top center")),
      marker: { size: 11, symbol: chosen.map(symbol), color: chosen.map((row) => selection.colour(row.controller)) },
      textfont: { color: theme.colours.ink } }),
  ];
  const layout = {
    ...baseLayout(), height: 380, hovermode: "closest", margin: { ...MARGIN, t: 16, r: 24, b: 48, l: 56 },
    xaxis: axis({ title: { text: "mean RTT ÷ base RTT (lower is better)" } }),
    yaxis: axis({ title: { text: "mean utilisation, %" } }),
  };
  return { traces, layout };
}
