// Figures: panels over one time axis, drawn with plotly when they come into view.

/** CSS pixels that fit between the margins of A4 and of US letter. */
const PRINT_WIDTH = 680;
const PANEL_HEIGHT = 170;
const TOUCH = matchMedia("(pointer: coarse)").matches;
const MARGIN = { l: 48, r: 14, t: TOUCH ? 52 : 26, b: 28 };
const DASHES = ["solid", "dash", "dot", "dashdot"];

const CONFIG = {
  displaylogo: false,
  responsive: true,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  toImageButtonOptions: { format: "svg" },
};

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

/** What plotly calls the `i`th vertical axis in a layout, and in a trace. */
const axisId = (i) => `yaxis${i === 0 ? "" : i + 1}`;
const axisName = (i) => `y${i === 0 ? "" : i + 1}`;

/** The layout of panels one above the other: `title` each, `height` in shares of a panel. */
function panelLayout(panels, range, first = 0) {
  const gap = 0.055 * 4 / panels.length;
  const shares = panels.map(({ height = 1 }) => height);
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const layout = {
    ...baseLayout(), height: panelsHeight(panels), hovermode: "x unified",
    xaxis: axis({ ticksuffix: " s", hoverformat: ".2f", range, anchor: axisName(first + panels.length - 1),
      showspikes: true, spikemode: "across", spikethickness: 1, spikedash: "dot", spikecolor: theme.colours["ink-soft"] }),
    annotations: [],
  };
  let top = 1;
  panels.forEach(({ title, axis: own = {} }, i) => {
    const height = (1 - gap * (panels.length - 1)) * shares[i] / whole;
    layout[axisId(first + i)] = axis({ domain: [Math.max(0, top - height), top], rangemode: "tozero", nticks: 5, fixedrange: false, ...own });
    layout.annotations.push({ text: title, x: 0, y: top, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom",
      showarrow: false, font: { size: 12, color: theme.colours.ink } });
    top -= height + gap;
  });
  return layout;
}

/** How high a figure of panels is, pixels. */
const panelsHeight = (panels) => panels.reduce((sum, { height = 1 }) => sum + height * PANEL_HEIGHT, 0) + MARGIN.t + MARGIN.b;

/** An entry of a legend: a name and the line that stands for it. */
function legendEntry(name, colour, className = "") {
  const sample = el("span", { class: `sample ${className}` });
  sample.style.borderTopColor = colour;
  return el("li", {}, sample, name);
}

/** Plots on the page, each drawn when near the window and again when it is stale. */
const plots = {
  all: [],
  printing: false,
  observer: null,

  /** Registers `holder` to be drawn with what `figure()` returns. */
  add(holder, figure) {
    const plot = { holder, figure, stale: true, near: false };
    plots.all.push(plot);
    return plot;
  },

  async draw(plot) {
    plot.stale = false;
    const { traces, layout } = await plot.figure();
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

/** Fields that show and set the time range of a figure with the vertical `axes`. */
function timeRange(holder, { from: start, to: end, axes }, ...buttons) {
  const field = (label, value) => el("input", {
    type: "number", min: start, max: end, step: "any", value, "aria-label": `${label}, seconds`, onchange: apply,
  });
  const [from, to] = [field("Plots from", start), field("Plots to", Number(end.toFixed(3)))];
  function apply() {
    const [low, high] = [Number(from.value), Number(to.value)];
    if (holder.layout && low < high) Plotly.relayout(holder, { "xaxis.range": [low, high] });
  }
  function reset() {
    const free = Object.fromEntries(axes.map((id) => [`${id}.autorange`, true]));
    if (holder.layout) Plotly.relayout(holder, { ...free, "xaxis.range": [start, end] });
  }
  holder.addEventListener("drawn", () => {
    if (holder.dataset.linked) return;
    holder.dataset.linked = "yes";
    holder.on("plotly_relayout", () => {
      const [low, high] = holder.layout.xaxis.range.map(Number);
      const digits = 10 ** Math.max(3, Math.ceil(4 - Math.log10(high - low)));
      from.value = Math.round(low * digits) / digits;
      to.value = Math.round(high * digits) / digits;
      holder.dispatchEvent(new Event("ranged"));
    });
  });
  return el("span", { class: "range" }, "Time ", from, " to ", to, " s ", ...buttons,
    el("button", { type: "button", onclick: reset }, "Whole run"));
}

/** Paper is light, has a width of its own, and shows every plot. */
addEventListener("beforeprint", () => {
  document.documentElement.dataset.theme = "light";
  theme.read();
  plots.printing = true;
  plots.all.forEach((plot) => { plot.stale = true; });
  if (window.Plotly) plots.drawAll();
});
addEventListener("afterprint", () => {
  plots.printing = false;
  theme.apply(theme.choice);
});
