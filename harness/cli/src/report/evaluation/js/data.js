// The results, as the page contains them.

const results = JSON.parse(await unpackedText("results"));

/** Every metric a table can show, as frame/js/table.js uses it. */
const METRICS = {
  score: { label: "Score", digits: 1, better: "high", bar: 100,
    help: "100 × utilisation × (1 − loss) × fairness × base RTT ÷ mean RTT, from 0 to 100" },
  goodput_mbps: { label: "Goodput", unit: "Mbit/s", digits: 2, better: "high",
    help: "Application bytes delivered, each once" },
  utilisation: { label: "Utilisation", unit: "%", scale: 100, digits: 1, better: "high",
    help: "Bits the busiest link sent over bits it could have sent" },
  rtt_mean_ms: { label: "RTT mean", unit: "ms", digits: 1, better: "low", help: "Mean of the RTT samples" },
  rtt_p95_ms: { label: "RTT p95", unit: "ms", digits: 1, better: "low", help: "95th percentile of the RTT samples" },
  rtt_min_ms: { label: "RTT min", unit: "ms", digits: 1, better: "low", help: "Smallest RTT sample" },
  rtt_ratio: { label: "RTT ÷ base", digits: 2, better: "low",
    help: "Mean RTT over the RTT of the empty path: 1 means no queueing" },
  rtt_p95_ratio: { label: "p95 ÷ base", digits: 2, better: "low",
    help: "95th percentile of the RTT over the RTT of the empty path" },
  loss: { label: "Loss", unit: "%", scale: 100, digits: 2, better: "low", help: "Packets declared lost over packets sent" },
  fairness: { label: "Fairness", digits: 3, better: "high",
    help: "Jain's index of the flows' goodput while all were active: 1 is an even split, 1/n is one flow taking all" },
  cwnd_mean_packets: { label: "Window", unit: "packets", digits: 1, better: "high",
    help: "Time-weighted mean of the congestion window" },
  packets_sent: { label: "Sent", unit: "packets", digits: 0, better: "high", help: "Packets sent" },
  packets_marked: { label: "Marked", unit: "packets", digits: 0, better: "low", help: "Packets that arrived with an ECN-CE mark" },
  congestion_events: { label: "Responses", digits: 0, better: "low", help: "Congestion responses: entries into recovery" },
  written: { label: "Written", digits: 0, better: "high", help: "Frames or objects that the application wrote" },
  delivered: { label: "Delivered", unit: "%", scale: 100, digits: 2, better: "high",
    help: "Share of them that the receiver has, each with all before it, or before it in its group" },
  late: { label: "Late", unit: "%", scale: 100, digits: 2, better: "low", help: "Share that took longer than the flow's frame_late_ms" },
  delay_median_ms: { label: "Delay median", unit: "ms", digits: 1, better: "low", help: "From writing to arrival, half of them" },
  delay_p95_ms: { label: "Delay p95", unit: "ms", digits: 1, better: "low", help: "From writing to arrival, 95 % of them" },
  delay_p99_ms: { label: "Delay p99", unit: "ms", digits: 1, better: "low", help: "From writing to arrival, 99 % of them" },
  encoded_mbps: { label: "Encoded", unit: "Mbit/s", digits: 2, better: "high", help: "Mean rate of an encoder that follows the estimated send rate" },
  groups: { label: "Groups", digits: 0, better: "high", help: "Groups of objects that began" },
  groups_dropped: { label: "Groups reset", digits: 0, better: "low", help: "Groups that the delivery timeout reset" },
  dropped: { label: "Objects dropped", digits: 0, better: "low", help: "Objects of those groups that were not delivered" },
  startup_s: { label: "Start-up", unit: "s", digits: 2, better: "low", help: "From the first request until the video could play" },
  stalls: { label: "Stalls", digits: 0, better: "low", help: "How often there was nothing to play, after it began" },
  stalled_s: { label: "Stalled", unit: "s", digits: 2, better: "low", help: "How long that was in all" },
  switches: { label: "Switches", digits: 0, better: "low", help: "How often a chunk had another rate than the one before" },
  rate_mbps: { label: "Rate", unit: "Mbit/s", digits: 2, better: "high", help: "Mean rate of the chunks" },
  limit_packets: { label: "Limit", unit: "packets", digits: 0, better: "low", help: "Capacity of the queue at the end of the run" },
  packets_forwarded: { label: "Forwarded", unit: "packets", digits: 0, better: "high", help: "Packets that left the queue" },
  packets_dropped: { label: "Dropped", unit: "packets", digits: 0, better: "low", help: "Packets dropped by the queue" },
  packets_lost_at_random: { label: "Lost on link", unit: "packets", digits: 0, better: "low", help: "Packets lost at random on the link" },
  mean_packets: { label: "Queue mean", unit: "packets", digits: 1, better: "low", help: "Time-weighted mean of waiting packets" },
  max_packets: { label: "Queue max", unit: "packets", digits: 0, better: "low", help: "Most packets that ever waited" },
};

/** What a controller is called on the page; scenarios may bring their own. */
const called = (controller) => controller || "the scenario’s own";

/** The runs of a scenario that have results. */
const doneRuns = (scenario) => results.runs.filter((run) => run.scenario === scenario && run.status === "done");
