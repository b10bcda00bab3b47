// Traces of all groups over one time axis, a colour per group; and differences as a map.

const { by, comparison, group_of: groupOf } = embedded("comparison");
traces.forEach((trace, i) => { trace.group_shown = groupOf[i]; });

const groupColour = (group) => lineColour(comparison.groups.indexOf(group));
const hiddenGroups = new Set();

/** Panels of the overlay: the first quantity of `of` that a trace has. */
const OVERLAY = [
  { title: "Congestion window, kB", of: ["congestion_window"] },
  { title: "Bytes in flight, kB", of: ["bytes_in_flight"] },
  { title: "Round-trip time, ms", of: ["smoothed_rtt", "latest_rtt"] },
  { title: "Goodput, or throughput, Mbit/s", of: ["delivered", "sent"], rate: true },
].filter(({ of }) => traces.some((trace) => trace.lines.some(({ name }) => of.includes(name))));

const longest = Math.max(...traces.map((trace) => trace.duration_s));

/** Every trace's lines; each from its own beginning. */
async function overlayFigure(holder) {
  const range = shownRange(holder, [0, longest]);
  const [from, to] = range;
  const pixels = pixelsOf(holder);
  const layout = panelLayout(OVERLAY.map((panel) => ({ ...panel, axis: { rangemode: fromZero(range, [0, longest]) } })), range);
  layout.hovermode = "closest";
  layout.xaxis = { ...layout.xaxis, hoverformat: `.${timeDigits(to - from)}f`, minallowed: 0, maxallowed: longest };
  const drawn = [];
  for (const trace of traces) {
    if (hiddenGroups.has(trace.group_shown)) continue;
    const lines = await trace.load();
    const inGroup = traces.filter((other) => other.group_shown === trace.group_shown).length;
    const style = { color: groupColour(trace.group_shown), width: inGroup > 1 ? 1.1 : 1.5 };
    OVERLAY.forEach(({ of, rate }, i) => {
      const quantity = of.find((name) => lines.has(name));
      if (!quantity) return;
      const made = rate ? rateTrace(lines.get(quantity), quantity, range, trace.duration_s, binWidth(trace, to - from), style)
        : lineTrace(lines.get(quantity), quantity, range, trace.duration_s, pixels, style);
      drawn.push({ ...made, name: `${trace.group_shown} · ${trace.name}`, yaxis: axisName(i), opacity: inGroup > 1 ? 0.75 : 1,
        hovertemplate: `${made.hovertemplate}<br>%{x} s` });
    });
  }
  return { traces: dotted(drawn, pixels), layout };
}

/** Measures of the map of differences. */
const MAPPED = ["goodput_mbps", "throughput_mbps", "received_goodput_mbps", "loss_percent", "rtt_p50_ms", "rtt_p95_ms", "queueing_p95_ms", "cwnd_mean_bytes", "reductions"];

/** Differences in percent of the baseline, with their intervals. */
function differenceFigure() {
  const rows = comparison.rows.filter((row) => MAPPED.includes(row.metric) && row.difference?.percent != null);
  const metrics = MAPPED.filter((metric) => rows.some((row) => row.metric === metric));
  const groups = comparison.groups.filter((group) => group !== comparison.baseline);
  const place = (row) => -metrics.indexOf(row.metric) - (groups.indexOf(row.group) - (groups.length - 1) / 2) * 0.7 / groups.length;
  const made = groups.map((group) => {
    const own = rows.filter((row) => row.group === group);
    const share = (row, value) => (value * row.difference.percent) / (row.difference.absolute || 1);
    const half = own.map((row) => (row.difference.interval ? Math.abs(share(row, (row.difference.interval[1] - row.difference.interval[0]) / 2)) : 0));
    return {
      type: "scatter", mode: "markers", name: group, x: own.map((row) => row.difference.percent), y: own.map(place),
      error_x: { type: "data", array: half, color: groupColour(group), thickness: 1.6, width: 4 },
      marker: { size: 9, color: groupColour(group), symbol: own.map((row) => (row.difference.interval ? "circle" : "circle-open")) },
      text: own.map((row) => METRICS[row.metric].label), hovertemplate: "%{text} %{x:+.1f} %<extra>%{fullData.name}</extra>",
    };
  });
  const layout = {
    ...baseLayout(), height: 90 + metrics.length * Math.max(34, 16 * groups.length), hovermode: "closest", margin: { ...MARGIN, l: 110, b: 46, t: 16 },
    xaxis: axis({ title: { text: `difference to ${comparison.baseline}, %` }, zeroline: true, zerolinecolor: theme.colours["ink-soft"] }),
    yaxis: axis({ tickvals: metrics.map((_, i) => -i), ticktext: metrics.map((metric) => METRICS[metric].label), range: [-metrics.length + 0.5, 0.5], fixedrange: true }),
  };
  return { traces: made, layout };
}
