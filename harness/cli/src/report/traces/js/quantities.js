// How measures and lines of traces are called and shown.

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
  limited_by_window_percent: { label: "By window", unit: "%", digits: 0, better: "high", help: "Share of the time the congestion window kept the sender from sending" },
  limited_by_application_percent: { label: "By application", unit: "%", digits: 0, better: "low", help: "Share of the time the sender had nothing to send, by its window and flow control" },
  limited_by_flow_control_percent: { label: "By flow control", unit: "%", digits: 0, better: "low", help: "Share of the time the receiver's limits kept the sender from sending" },
  app_limited_percent: { label: "App-limited", unit: "%", digits: 0, better: "low", help: "Share of the time the sender had too little to send" },
};

/** A measure of a trace by its name; null where the trace does not have it. */
const measure = (trace, name) => trace.measures[name] ?? null;

/** How each line is called and shown. A value holds until the next one. */
const QUANTITIES = SHOWN.quantities;

/** Bins that a rate is drawn in, at most. */
const BINS = 240;

/** The width of a rate's bins where `span` seconds are shown: a round trip or more, s. */
const binWidth = (trace, span) => Math.max(span / BINS, (measure(trace, "rtt_min_ms") ?? 10) / 1000);

/** What a trace calls a state, in words. */
const words = (name) => name.replaceAll("_", " ") || "unnamed";

/** The same of a congestion state, of which some traces have only a number. */
const stateWords = (name) => (/^\d+$/.test(name) ? `state ${name}` : words(name));
