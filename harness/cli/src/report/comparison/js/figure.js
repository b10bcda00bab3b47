// Traces of all groups over one time axis, a colour per group; and differences as a map.

const { by, comparison, group_of: groupOf } = embedded("comparison");
traces.forEach((trace, i) => { trace.group_shown = groupOf[i]; });

const groupColour = (group) => lineColour(comparison.groups.indexOf(group));
const hiddenGroups = new Set();

/** Every trace whose group is shown. Without `decoded`, what takes the place of its lines. */
function comparedSpec(decoded) {
  const shown = traces.flatMap((trace, i) => {
    if (hiddenGroups.has(trace.group_shown)) return [];
    const several = traces.filter((other) => other.group_shown === trace.group_shown).length > 1;
    return [{ trace, lines: decoded?.[i], name: `${trace.group_shown} · ${trace.name}`, colour: groupColour(trace.group_shown), width: several ? 1.1 : 1.5, opacity: several ? 0.75 : 1 }];
  });
  return { ...overlaySpec(traces, shown), pending: decoded ? null : async () => comparedSpec(await Promise.all(traces.map((trace) => trace.load()))) };
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
