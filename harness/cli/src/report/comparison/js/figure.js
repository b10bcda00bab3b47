// Traces of all groups over one time axis, a colour per group; and differences as a map.

const { by, comparison, group_of: groupOf } = embedded("comparison");
traces.forEach((trace, i) => { trace.group_shown = groupOf[i]; });

const groupColour = (group) => lineColour(comparison.groups.indexOf(group));
const hiddenGroups = new Set();

/** Panels of the overlay: the first quantity of `of` that a trace has. */
const OVERLAY = [
  { title: "Congestion window, kB", unit: "kB", digits: 1, zero: true, of: ["congestion_window"] },
  { title: "Bytes in flight, kB", unit: "kB", digits: 1, zero: true, of: ["bytes_in_flight"] },
  { title: "Round-trip time, ms", unit: "ms", digits: 2, zero: "auto", of: ["smoothed_rtt", "latest_rtt"] },
  { title: "Goodput, or throughput, Mbit/s", unit: "Mbit/s", digits: 2, zero: true, of: ["delivered", "sent"], rate: true },
].filter(({ of }) => traces.some((trace) => trace.lines.some(({ name }) => of.includes(name))));

const longest = Math.max(...traces.map((trace) => trace.duration_s));

/** Every trace's lines; each from its own beginning. Without `decoded`, what takes their place. */
function overlaySpec(decoded) {
  const panels = OVERLAY.map(({ of, rate, ...panel }) => ({
    ...panel, names: false,
    lines: traces.flatMap((trace, i) => {
      const quantity = of.find((name) => trace.lines.some((line) => line.name === name));
      if (!quantity || hiddenGroups.has(trace.group_shown)) return [];
      const inGroup = traces.filter((other) => other.group_shown === trace.group_shown).length;
      const sampled = quantity === "latest_rtt" ? { kind: "samples" } : {};
      const line = lineOf(trace, decoded?.[i], { of: quantity, ...(rate ? { as: quantity } : {}), ...sampled, colour: groupColour(trace.group_shown), width: inGroup > 1 ? 1.1 : 1.5, opacity: inGroup > 1 ? 0.75 : 1 });
      return [{ ...line, key: `${i} ${quantity}`, quantity, name: `${trace.group_shown} · ${trace.name}`, digits: panel.digits }];
    }),
  }));
  return { whole: [0, longest], panels, pending: decoded ? null : async () => overlaySpec(await Promise.all(traces.map((trace) => trace.load()))) };
}

/** Measures of the map of differences. */
const MAPPED = ["goodput_mbps", "throughput_mbps", "received_goodput_mbps", "loss_percent", "rtt_p50_ms", "rtt_p95_ms", "queueing_p95_ms", "cwnd_mean_bytes", "reductions"];

/** Differences in percent of the baseline, with their intervals. */
function differenceSpec() {
  const rows = comparison.rows.filter((row) => MAPPED.includes(row.metric) && row.difference?.percent != null);
  const metrics = MAPPED.filter((metric) => rows.some((row) => row.metric === metric));
  const groups = comparison.groups.filter((group) => group !== comparison.baseline);
  const place = (row) => metrics.indexOf(row.metric) + (groups.indexOf(row.group) - (groups.length - 1) / 2) * 0.7 / groups.length;
  const series = groups.map((group) => ({
    name: group, colour: groupColour(group), kind: "dots",
    points: rows.filter((row) => row.group === group).map((row) => {
      const { percent, absolute, interval } = row.difference;
      const half = interval ? Math.abs(((interval[1] - interval[0]) / 2) * percent / (absolute || 1)) : null;
      return { x: percent, y: place(row), left: half === null ? null : percent - half, right: half === null ? null : percent + half, hollow: half === null,
        text: `${group}: ${METRICS[row.metric].label} ${signed(percent, 1)} %${half === null ? "" : ` ± ${half.toFixed(1)}`}` };
    }),
  }));
  return { hint: "Point at a difference, or use the arrow keys, to read it.", rowHeight: Math.max(34, 16 * groups.length), series,
    x: { title: `difference to ${comparison.baseline}, %`, zero: false, line: 0 }, y: { rows: metrics.map((metric) => METRICS[metric].label) } };
}
