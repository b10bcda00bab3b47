//! Example queries on fleets and test runs, as SQL.

/// An example query and the question it answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Example {
    /// Name on the command line.
    pub name: &'static str,
    /// The question, one sentence.
    pub question: &'static str,
    /// The SQL that answers it.
    pub sql: &'static str,
}

/// The example queries, in the order they are listed. Their rows come in one order, wherever they run.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "destinations",
        question: "Which destinations lose more than 1 % under bbr but not under cubic?",
        sql: "\
SELECT destination, bbr_loss_percent, cubic_loss_percent
FROM (
  SELECT destination,
    100 * sum(packets_lost) FILTER (WHERE controller LIKE 'bbr%')
        / sum(packets_sent) FILTER (WHERE controller LIKE 'bbr%') AS bbr_loss_percent,
    100 * sum(packets_lost) FILTER (WHERE controller LIKE 'cubic%')
        / sum(packets_sent) FILTER (WHERE controller LIKE 'cubic%') AS cubic_loss_percent
  FROM connections
  WHERE destination IS NOT NULL
  GROUP BY destination
)
WHERE bbr_loss_percent > 1 AND cubic_loss_percent <= 1
ORDER BY bbr_loss_percent DESC, destination",
    },
    Example {
        name: "controllers",
        question: "What does each controller get out of each scenario, and what does it do to the queue?",
        sql: "\
SELECT scenario, controller, stack, count(*) AS connections,
  round(avg(coalesce(goodput_mbps, throughput_mbps)), 3) AS mbps,
  round(100 * sum(packets_lost) / sum(packets_sent), 3) AS loss_percent,
  round(avg(queueing_p95_ms), 2) AS queueing_p95_ms
FROM connections
GROUP BY scenario, controller, stack
ORDER BY scenario, mbps DESC, controller, stack",
    },
    Example {
        name: "spurious",
        question: "Which connections take packets for lost that then arrive?",
        sql: "\
SELECT controller, stack, file, connection, packets_lost, packets_spurious, spurious_percent
FROM connections
WHERE packets_spurious > 0
ORDER BY spurious_percent DESC, packets_spurious DESC, file, connection
LIMIT 20",
    },
    Example {
        name: "app-limited",
        question: "Which connections are slow for want of data rather than for the network's sake?",
        sql: "\
SELECT file, connection, controller, throughput_mbps, app_limited_percent, loss_percent, queueing_p95_ms
FROM connections
WHERE app_limited_percent > 50 AND coalesce(loss_percent, 0) < 0.1
ORDER BY app_limited_percent DESC, file, connection",
    },
    Example {
        name: "bursts",
        question: "Where are the losses dense? The worst tenths of a second.",
        sql: "\
SELECT file, connection, controller, time_ns / 100000000 / 10.0 AS from_s, count(*) AS lost
FROM packets
WHERE event = 'lost'
GROUP BY file, connection, controller, time_ns / 100000000
ORDER BY lost DESC, file, connection, from_s
LIMIT 20",
    },
    Example {
        name: "window-at-loss",
        question: "How large was the window, and how long the queue, when packets were declared lost?",
        sql: "\
WITH story AS (
  SELECT file, trace, connection, controller, seq, false AS lost, latest_rtt_ns,
    CASE WHEN cwnd IS NOT NULL THEN seq END AS cwnd_seq,
    CASE WHEN latest_rtt_ns IS NOT NULL THEN seq END AS rtt_seq
  FROM recovery
  UNION ALL
  SELECT file, trace, connection, controller, seq, true, NULL, NULL, NULL FROM packets WHERE event = 'lost'
), placed AS (
  SELECT file, trace, connection, controller, lost,
    max(cwnd_seq) OVER before AS cwnd_seq, max(rtt_seq) OVER before AS rtt_seq,
    min(latest_rtt_ns) OVER (PARTITION BY file, trace, connection) AS least_rtt
  FROM story
  WINDOW before AS (PARTITION BY file, trace, connection ORDER BY seq
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
SELECT p.controller, count(*) AS losses, round(avg(w.cwnd)) AS cwnd_bytes, min(w.cwnd) AS least, max(w.cwnd) AS most,
  round(avg(r.latest_rtt_ns - p.least_rtt) / 1e6, 2) AS queueing_ms
FROM placed p
JOIN recovery w ON w.file = p.file AND w.trace = p.trace AND w.connection = p.connection AND w.seq = p.cwnd_seq
LEFT JOIN recovery r ON r.file = p.file AND r.trace = p.trace AND r.connection = p.connection AND r.seq = p.rtt_seq
WHERE p.lost
GROUP BY p.controller
ORDER BY losses DESC, p.controller",
    },
    Example {
        name: "rtt-over-time",
        question: "How did the RTT go, second by second?",
        sql: "\
SELECT file, connection, time_ns / 1000000000 AS second, count(latest_rtt_ns) AS samples,
  round(min(latest_rtt_ns) / 1e6, 2) AS min_ms,
  round(percentile_cont(0.95) WITHIN GROUP (ORDER BY latest_rtt_ns) / 1e6, 2) AS p95_ms
FROM recovery
WHERE latest_rtt_ns IS NOT NULL
GROUP BY file, connection, time_ns / 1000000000
ORDER BY file, connection, second",
    },
    Example {
        name: "states",
        question: "Where do controllers spend their time, and how fast do they come back?",
        sql: "\
SELECT controller, stack, round(sum(slow_start_s), 2) AS slow_start_s,
  round(sum(congestion_avoidance_s), 2) AS congestion_avoidance_s, round(sum(recovery_s), 2) AS recovery_s,
  round(avg(regain_time_s), 3) AS regain_time_s, round(avg(settled_after_s), 1) AS settled_after_s
FROM connections
GROUP BY controller, stack
ORDER BY controller, stack",
    },
    Example {
        name: "not-understood",
        question: "What in these traces did the readers not understand?",
        sql: "\
SELECT name, sum(count) AS times, count(DISTINCT file) AS files
FROM unknown
GROUP BY name
ORDER BY times DESC, name",
    },
];
