// Plots: one figure per scenario with four panels over one time axis, and the map of
// delay against utilisation. Drawn when they come into view.

const PANELS = [
  { title: "Congestion window, packets", of: "flow", column: "cwnd_packets", digits: 1, controlled: true },
  { title: "Round-trip time, ms", of: "flow", column: "rtt_ms", digits: 1, controlled: true },
  { title: "Goodput, Mbit/s", of: "flow", column: "goodput_mbps", digits: 2 },
  { title: "Queue, packets", of: "queue", column: "packets", digits: 1 },
];
const DASHES = ["solid", "dash", "dot", "dashdot"];
/** CSS pixels that fit between the margins of A4 and of US letter. */
const PRINT_WIDTH = 680;
const PANEL_HEIGHT = 170;
const TOUCH = matchMedia("(pointer: coarse)").matches;
const MARGIN = { l: 48, r: 14, t: TOUCH ? 52 : 26, b: 28 };

const CONFIG = {
  displaylogo: false,
  responsive: true,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  toImageButtonOptions: { format: "svg" },
};

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

/** Axes and fonts in the colours of the theme. */
function baseLayout() {
  const ink = theme.colours["ink-soft"];
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: ink },
    hoverlabel: { bgcolor: theme.colours.raised, bordercolor: theme.colours.rule, font: { color: theme.colours.ink, size: 12 } },
    margin: MARGIN, showlegend: false,
    dragmode: TOUCH ? false : "zoom",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: theme.colours["ink-faint"], activecolor: theme.colours.ink },
  };
}

const axis = (extra) => ({
  gridcolor: theme.colours.rule, linecolor: theme.colours.rule, zeroline: false, ticks: "outside",
  tickcolor: theme.colours.rule, ...extra,
});

/** The figure of a scenario. */
function scenarioFigure(scene) {
  const lines = plottedLines(scene.name);
  const gap = 0.055;
  const height = (1 - gap * (PANELS.length - 1)) / PANELS.length;
  const layout = {
    ...baseLayout(), height: PANELS.length * PANEL_HEIGHT + MARGIN.t + MARGIN.b, hovermode: "x unified",
    xaxis: axis({ ticksuffix: " s", hoverformat: ".2f", range: [0, scene.duration_s], anchor: `y${PANELS.length}`,
      showspikes: true, spikemode: "across", spikethickness: 1, spikedash: "dot", spikecolor: theme.colours["ink-soft"] }),
    annotations: [],
  };
  const traces = PANELS.flatMap((panel, i) => {
    const top = 1 - i * (height + gap);
    const id = i === 0 ? "" : String(i + 1);
    layout[`yaxis${id}`] = axis({ domain: [Math.max(0, top - height), top], rangemode: "tozero", nticks: 5, fixedrange: false });
    layout.annotations.push({ text: panel.title, x: 0, y: top, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom",
      showarrow: false, font: { size: 12, color: theme.colours.ink } });
    const drawn = lines.filter((line) => line.of === panel.of && (!panel.controlled || line.controlled));
    return drawn.map((line) => ({
      type: "scatter", mode: "lines", x: line.series.time_s, y: line.series[panel.column], yaxis: `y${id}`, name: line.name,
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

/** Plots on the page, each drawn when near the window and again when it is stale. */
const plots = {
  all: [],
  printing: false,
  observer: null,

  /** Registers `holder` to be drawn with what `figure()` returns. */
  add(holder, figure) {
    plots.all.push({ holder, figure, stale: true, near: false });
  },

  async draw(plot) {
    plot.stale = false;
    const { traces, layout } = plot.figure();
    // A new selection or theme keeps the zoom; see plotly's `uirevision`.
    await Plotly.react(plot.holder, traces, { ...layout, width: plots.printing ? PRINT_WIDTH : undefined, uirevision: "zoom" }, CONFIG);
    plot.holder.dispatchEvent(new Event("drawn"));
  },

  refresh() {
    for (const plot of plots.all) {
      plot.stale = true;
      if (plot.near && window.Plotly) plots.draw(plot);
    }
  },

  drawAll: () => Promise.all(plots.all.filter((plot) => plot.stale).map(plots.draw)),

  start() {
    plots.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const plot = plots.all.find((candidate) => candidate.holder === entry.target);
        plot.near = entry.isIntersecting;
        if (plot.near && plot.stale) plots.draw(plot);
      }
    }, { rootMargin: "400px 0px" });
    plots.all.forEach((plot) => plots.observer.observe(plot.holder));
  },
};

/** Fields that show and set the time range of a scenario's plots. */
function timeRange(holder, scene) {
  const field = (label, value) => el("input", {
    type: "number", min: 0, max: scene.duration_s, step: "any", value, "aria-label": `${label}, seconds`, onchange: apply,
  });
  const [from, to] = [field("Plots from", 0), field("Plots to", scene.duration_s)];
  function apply() {
    const [low, high] = [Number(from.value), Number(to.value)];
    if (holder.layout && low < high) Plotly.relayout(holder, { "xaxis.range": [low, high] });
  }
  function reset() {
    const free = Object.fromEntries(PANELS.map((_, i) => [`yaxis${i ? i + 1 : ""}.autorange`, true]));
    if (holder.layout) Plotly.relayout(holder, { ...free, "xaxis.range": [0, scene.duration_s] });
  }
  holder.addEventListener("drawn", () => {
    if (holder.dataset.linked) return;
    holder.dataset.linked = "yes";
    holder.on("plotly_relayout", () => {
      const [low, high] = holder.layout.xaxis.range;
      from.value = Math.round(low * 1000) / 1000;
      to.value = Math.round(high * 1000) / 1000;
    });
  });
  return el("span", { class: "range" }, "Time ", from, " to ", to, " s ",
    el("button", { type: "button", onclick: reset }, "Whole run"));
}
