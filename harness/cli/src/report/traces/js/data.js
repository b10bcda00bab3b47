// The traces that the page contains, and their measures.

const { windlass, columns, traces } = embedded("traces");

/** The measures of the summary, as frame/js/table.js uses them. */
const METRICS = {
  duration_s: { label: "Time", unit: "s", digits: 2, better: "high", help: "From the first event to the last" },
  packets_sent: { label: "Sent", unit: "packets", digits: 0, better: "high", help: "Packets sent" },
  throughput_mbps: { label: "Throughput", unit: "Mbit/s", digits: 3, better: "high", help: "Bytes sent over time" },
  goodput_mbps: { label: "Goodput", unit: "Mbit/s", digits: 3, better: "high", help: "Stream data acknowledged, each byte once" },
  received_goodput_mbps: { label: "Received", unit: "Mbit/s", digits: 3, better: "high", help: "Stream data received, each byte once" },
  loss_percent: { label: "Lost", unit: "%", digits: 2, better: "low", help: "Packets declared lost over packets sent" },
  spurious_percent: { label: "Spurious", unit: "%", digits: 1, better: "low", help: "Of the packets declared lost, those acknowledged later" },
  marks: { label: "CE marks", digits: 0, better: "low", help: "CE marks that the peer reported" },
  rtt_min_ms: { label: "RTT min", unit: "ms", digits: 2, better: "low", help: "Smallest RTT sample" },
  rtt_p50_ms: { label: "RTT p50", unit: "ms", digits: 2, better: "low", help: "Median of the RTT samples" },
  rtt_p95_ms: { label: "RTT p95", unit: "ms", digits: 2, better: "low", help: "95th percentile of the RTT samples" },
  queueing_p95_ms: { label: "Queueing p95", unit: "ms", digits: 2, better: "low", help: "95th percentile of the RTT samples above the least of them" },
  cwnd_mean_bytes: { label: "Window", unit: "bytes", digits: 0, better: "high", help: "Time-weighted mean of the congestion window" },
  reductions: { label: "Reductions", digits: 0, better: "low", help: "How often the window became smaller" },
  app_limited_percent: { label: "App-limited", unit: "%", digits: 0, better: "low", help: "Share of the time the sender had too little to send" },
};

/** A measure of a trace by its column; null where the trace does not have it. */
const measure = (trace, name) => trace.measures[columns.indexOf(name)] ?? null;

traces.forEach((trace, i) => {
  trace.id = `trace-${i}`;
  /** The trace's lines, decoded once. */
  trace.load = () => { trace.loaded ??= unpacked(`lines-${i}`).then((bytes) => decodedLines(bytes, trace.lines)); return trace.loaded; };
});

/** Every trace is decoded while the page has nothing else to do: paper does not wait for lines. */
addEventListener("load", async () => {
  const idle = window.requestIdleCallback ?? setTimeout;
  for (const trace of traces) {
    await new Promise((resume) => { idle(resume); });
    await trace.load();
  }
  document.documentElement.dataset.loaded = "all";
});

/** What a trace calls a state, in words. */
const words = (name) => name.replaceAll("_", " ") || "unnamed";
