// What pages that draw lines of traces share: quantities, ranges, keys.

/** How each line is called and shown. A value holds until the next one. */
const QUANTITIES = {
  congestion_window: { label: "congestion window", unit: "kB", scale: 1e-3, digits: 1 },
  ssthresh: { label: "slow start threshold", unit: "kB", scale: 1e-3, digits: 1 },
  bytes_in_flight: { label: "bytes in flight", unit: "kB", scale: 1e-3, digits: 1 },
  latest_rtt: { label: "latest RTT", unit: "ms", scale: 1e-6, digits: 3 },
  smoothed_rtt: { label: "smoothed RTT", unit: "ms", scale: 1e-6, digits: 3 },
  min_rtt: { label: "minimum RTT", unit: "ms", scale: 1e-6, digits: 3 },
  pacing_rate: { label: "pacing rate", unit: "Mbit/s", scale: 1e-6, digits: 2 },
  sent: { label: "sent", unit: "MB", scale: 1e-6, digits: 4 },
  delivered: { label: "delivered", unit: "MB", scale: 1e-6, digits: 4 },
};

/** Bins that a rate is drawn in, at most. */
const BINS = 240;

/** The width of a rate's bins: a round trip or more, s. */
const binWidth = (trace, span) => Math.max(span / BINS, (measure(trace, "rtt_min_ms") ?? 10) / 1000);

/** Pixels that a figure's lines are drawn on. */
const pixelsOf = (holder) => Math.max(200, Math.round((plots.printing ? PRINT_WIDTH : holder.clientWidth || 1000) - MARGIN.l - MARGIN.r));

/** The time range a figure shows. */
function shownRange(holder, whole) {
  const range = holder.layout?.xaxis?.range?.map(Number);
  return range && range[1] > range[0] ? range : whole;
}

/** Decimals that distinguish times on a figure of `span` seconds. */
const timeDigits = (span) => Math.min(9, Math.max(2, Math.ceil(3 - Math.log10(span))));

/** A line as plotly takes it, to `end` at most, where its trace ends. */
function lineTrace(line, quantity, [from, to], end, pixels, style) {
  const { label, scale, digits, unit } = QUANTITIES[quantity];
  const { x, y, raw } = line.drawn(from, to, pixels, scale);
  const points = x.length;
  // The latest value holds until the end.
  const last = Math.min(to, end);
  if (points && x[points - 1] < last) { x.push(last); y.push(y[points - 1]); }
  return {
    type: "scatter", mode: "lines", x, y, name: label, line: { shape: "hv", width: 1.5, ...style }, marker: { size: 5, color: style.color },
    connectgaps: false, hovertemplate: `%{y:.${digits}f} ${unit}`, meta: { quantity, raw, points },
  };
}

/** Shows single events as dots once there is room for those of every line. */
function dotted(drawn, pixels) {
  const room = drawn.every(({ meta }) => !meta.quantity || (meta.raw && meta.points < pixels / 4));
  return room ? drawn.map((made) => (made.meta.quantity ? { ...made, mode: "lines+markers", marker: { ...made.marker, size: made.x.map((_, i) => (i < made.meta.points ? 5 : 0)) } } : made)) : drawn;
}

/** Axes begin at 0, but for what is looked at closely. */
const fromZero = (range, whole) => (range[1] - range[0] > 0.2 * (whole[1] - whole[0]) ? "tozero" : "normal");

/** A count as a rate, to `end` at most, where its trace ends; a bin beyond each end of the range. */
function rateTrace(line, name, [from, to], end, width, style) {
  const { x, y } = line.rate(Math.max(0, from - width), Math.min(to + width, end), width, 8e-6);
  return { type: "scatter", mode: "lines", x, y, name, line: { shape: "linear", width: 1.5, ...style }, hovertemplate: "%{y:.3f} Mbit/s", meta: { rate: name } };
}

/** Moves and zooms a figure over `whole` with keys, and gives buttons that do the same. */
function timeControls(holder, whole, axes) {
  const [first, last] = whole;
  const set = (from, to) => {
    const span = Math.min(to - from, last - first);
    const start = Math.min(Math.max(from, first), last - span);
    if (holder.layout && span > 1e-9) Plotly.relayout(holder, { "xaxis.range": [start, start + span] });
  };
  const change = (move, zoom) => () => {
    const [from, to] = shownRange(holder, whole);
    const span = to - from;
    const middle = (from + to) / 2 + move * span;
    set(middle - span * zoom / 2, middle + span * zoom / 2);
  };
  const all = () => {
    const free = Object.fromEntries(axes.map((id) => [`${id}.autorange`, true]));
    if (holder.layout) Plotly.relayout(holder, { ...free, "xaxis.range": whole });
  };
  const keys = {
    ArrowLeft: change(-0.25, 1), ArrowRight: change(0.25, 1), "+": change(0, 0.5), "=": change(0, 0.5), "-": change(0, 2), 0: all, Home: all,
  };
  holder.addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  holder.addEventListener("ranged", () => {
    const [from, to] = shownRange(holder, whole);
    const digits = timeDigits(to - from);
    announce(`Shown: ${from.toFixed(digits)} to ${to.toFixed(digits)} seconds`);
  });
  const button = (text, label, act) => el("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  return [
    button("◀", "Earlier", keys.ArrowLeft), button("▶", "Later", keys.ArrowRight),
    button("+", "Zoom in", keys["+"]), button("−", "Zoom out", keys["-"]),
  ];
}

/** A figure's element: focusable, with a name, and its words beside it. */
function figureHolder(label, caption) {
  return el("div", { class: "plot", role: "group", "aria-roledescription": "chart", tabindex: "0", "aria-describedby": caption,
    "aria-label": `${label}. Arrow keys move, plus and minus zoom, 0 shows all.` });
}

/** Draws a figure anew whenever the range it shows changes. */
function followRange(plot) {
  let waiting = false;
  plot.holder.addEventListener("ranged", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; plots.draw(plot); });
  });
}
