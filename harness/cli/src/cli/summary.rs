//! Results as text for a terminal.

use super::text::{Align, aligned, width, wrapped};
use windlass_lab::results::{Results, Run, Standing};
use windlass_simulator::outcome::{FlowOutcome, QueueOutcome, Transfers};

const DASH: &str = "–";

fn number(x: Option<f64>, decimals: usize) -> String {
    x.map_or_else(|| DASH.to_owned(), |x| format!("{x:.decimals$}"))
}

fn percent(x: Option<f64>, decimals: usize) -> String {
    number(x.map(|x| 100.0 * x), decimals)
}

fn table(heads: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    aligned(heads, rows).iter().map(|line| format!("{line}\n")).collect()
}

/// The flows and queues of every run.
pub(super) fn of_runs(results: &Results) -> String {
    let mut text = String::new();
    for run in &results.runs {
        let controller = if run.controller.is_empty() { String::new() } else { format!(", {}", run.controller) };
        text.push_str(&format!("{}{controller}, {}\n", run.scenario, run.stack));
        if let Some(reason) = &run.reason {
            text.push_str(&format!("{}: {reason}\n\n", run.status.name()));
            continue;
        }
        text.push_str(&flows(run));
        text.push('\n');
        text.push_str(&queues(&run.queues));
        text.push('\n');
    }
    text
}

fn flows(run: &Run) -> String {
    use Align::{Left, Right};
    let heads = [
        ("flow", Left),
        ("controller", Left),
        ("Mbit/s", Right),
        ("RTT mean", Right),
        ("p95", Right),
        ("min ms", Right),
        ("sent", Right),
        ("lost %", Right),
        ("marked", Right),
        ("responses", Right),
        ("cwnd", Right),
    ];
    let rows: Vec<Vec<String>> = run
        .flows
        .iter()
        .map(|flow| {
            // Uncontrolled traffic has neither losses nor a window.
            let controlled = !flow.controller.is_empty();
            let lost =
                (controlled && flow.packets_sent > 0).then(|| flow.packets_lost as f64 / flow.packets_sent as f64);
            vec![
                flow.name.clone(),
                flow.controller.clone(),
                format!("{:.3}", flow.goodput_mbps),
                number(flow.rtt_mean_ms, 2),
                number(flow.rtt_p95_ms, 2),
                number(flow.rtt_min_ms, 2),
                flow.packets_sent.to_string(),
                percent(lost, 3),
                flow.packets_marked.to_string(),
                flow.congestion_events.to_string(),
                number(controlled.then_some(flow.cwnd_mean_packets), 1),
            ]
        })
        .collect();
    let mut text = table(&heads, &rows);
    text.extend(run.flows.iter().flat_map(|flow| [frames(flow), video(flow)]));
    for flow in &run.flows {
        let Some(transfers) = &flow.transfers else { continue };
        let Transfers { started, completed, .. } = transfers;
        text.push_str(&format!("{}: {completed} of {started} transfers complete", flow.name));
        if let (Some(mean), Some(median), Some(p95)) = (transfers.mean_s, transfers.median_s, transfers.p95_s) {
            text.push_str(&format!(" in {mean:.3} s on average, median {median:.3}, p95 {p95:.3}"));
        }
        text.push('\n');
    }
    if let Some(metrics) = &run.metrics {
        let fairness = metrics.fairness.map(|x| format!(", fairness {x:.3}")).unwrap_or_default();
        text.push_str(&format!("score {}{fairness}\n", number(metrics.score, 1)));
    }
    text
}

/// Outcome of the frames or objects that a flow's application wrote; empty of a flow without any.
fn frames(flow: &FlowOutcome) -> String {
    let Some(frames) = &flow.frames else { return String::new() };
    let what = if frames.objects.is_some() { "objects" } else { "frames" };
    let mut text =
        format!("{}: {} of {} {what} delivered, {} late", flow.name, frames.delivered, frames.written, frames.late);
    if frames.delay_median_ms.is_some() {
        let [median, p95, p99] = [frames.delay_median_ms, frames.delay_p95_ms, frames.delay_p99_ms];
        let [median, p95, p99] = [median, p95, p99].map(|ms| number(ms, 1));
        text += &format!("; delay median {median} ms, p95 {p95}, p99 {p99}");
    }
    if let Some(rate) = frames.encoded_mbps {
        text += &format!("; encoded at {rate:.3} Mbit/s");
    }
    if let Some(objects) = &frames.objects {
        let (groups, reset, dropped) = (objects.groups, objects.groups_dropped, objects.dropped);
        text += &format!("; {reset} of {groups} groups reset, {dropped} objects dropped with them");
    }
    text + "\n"
}

/// What the client of a video saw; empty of a flow without one.
fn video(flow: &FlowOutcome) -> String {
    let Some(video) = &flow.video else { return String::new() };
    let (startup, rate) = (number(video.startup_s, 3), number(video.rate_mbps, 3));
    format!(
        "{}: plays after {startup} s; stalls {}, {:.3} s in all; switches of rate {}; {rate} Mbit/s on average\n",
        flow.name, video.stalls, video.stalled_s, video.switches
    )
}

/// A line for each queue.
pub(super) fn queues(queues: &[QueueOutcome]) -> String {
    use Align::{Left, Right};
    let heads = [
        ("queue", Left),
        ("used %", Right),
        ("mean", Right),
        ("max", Right),
        ("limit packets", Right),
        ("forwarded", Right),
        ("dropped", Right),
        ("lost on link", Right),
        ("marked", Right),
    ];
    let rows: Vec<Vec<String>> = queues
        .iter()
        .map(|queue| {
            vec![
                queue.name.clone(),
                format!("{:.1}", 100.0 * queue.utilisation),
                format!("{:.1}", queue.mean_packets),
                format!("{:.0}", queue.max_packets),
                format!("{:.0}", queue.limit_packets),
                queue.packets_forwarded.to_string(),
                queue.packets_dropped.to_string(),
                queue.packets_lost_at_random.to_string(),
                queue.packets_marked.to_string(),
            ]
        })
        .collect();
    table(&heads, &rows)
}

/// Rows of a stack's ranking that are printed; the report has them all.
const BEST: usize = 12;

/// The best of the ranking, stack by stack.
pub(super) fn of_ranking(results: &Results) -> String {
    let mut text = String::new();
    for stack in &results.stacks {
        let (ranked, others): (Vec<&Standing>, Vec<&Standing>) =
            results.ranking.iter().filter(|standing| standing.stack == *stack).partition(|s| s.rank.is_some());
        text.push_str(&format!("{stack}\n{}", ranking(&ranked)));
        if ranked.len() > BEST {
            text.push_str(&format!("      and {} more\n", ranked.len() - BEST));
        }
        let collapses = ranked.iter().filter(|standing| !standing.collapses.is_empty());
        let collapses: Vec<String> =
            collapses.map(|standing| format!("{} ({})", standing.controller, standing.collapses.join(", "))).collect();
        if !collapses.is_empty() {
            let text_of = format!("ranked last, since they collapse: {}", collapses.join("; "));
            text.push_str(&wrapped(&text_of, 6, width()));
        }
        if !others.is_empty() {
            let names: Vec<&str> = others.iter().map(|standing| standing.controller.as_str()).collect();
            text.push_str(&wrapped(&format!("without a rank: {}", names.join(", ")), 6, width()));
        }
        text.push('\n');
    }
    text
}

fn ranking(standings: &[&Standing]) -> String {
    use Align::{Left, Right};
    let heads = [
        ("rank", Right),
        ("controller", Left),
        ("score", Right),
        ("used %", Right),
        ("RTT/base", Right),
        ("p95/base", Right),
        ("loss %", Right),
        ("fairness", Right),
    ];
    let row = |standing: &&Standing| {
        vec![
            standing.rank.map_or_else(|| DASH.to_owned(), |rank| rank.to_string()),
            standing.controller.clone(),
            number(standing.score, 1),
            percent(standing.utilisation, 1),
            number(standing.rtt_ratio, 2),
            number(standing.rtt_p95_ratio, 2),
            percent(standing.loss, 2),
            number(standing.fairness, 3),
        ]
    };
    table(&heads, &standings.iter().take(BEST).map(row).collect::<Vec<_>>())
}
