//! Cases of paths that aggregate, change, police or reorder.

use super::bench::{Bench, Ended, Findings, NO_STATES, Scenario};
use super::seen::{Kind, Seen, State};
use super::startup::first;

/// A path whose receiver acknowledges up to 24 packets at once, as links do that send in batches.
fn aggregating(duration: f64) -> Scenario {
    Scenario::bulk(20.0, 40.0, 400, duration).flow("ack = \"delayed\"\nack_every_packets = 24\nmax_ack_delay_ms = 25")
}

fn utilised(seen: &Seen, scenario: &Scenario, from: f64, least: f64, findings: &mut Findings) {
    let (goodput, capacity) = (seen.goodput(from, scenario.duration), scenario.capacity());
    findings.check(
        &format!("{:.0} % of the bandwidth are used", 100.0 * least),
        goodput >= least * capacity,
        format!("{goodput:.3} of {capacity:.3} Mbit/s from {from} s on"),
    );
}

pub(super) fn startup_aggregation(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    let scenario = aggregating(4.0);
    let seen = bench.run(&scenario)?;
    utilised(&seen, &scenario, 1.0, 0.9, findings);
    if !bench.shows_steps() {
        findings.unseen("extra_acked, the window and max_bw in Startup", NO_STATES);
        return Ok(());
    }
    let at_once = seen
        .moments
        .iter()
        .filter_map(|moment| if let Kind::Acked(packets) = moment.kind { Some(packets) } else { None });
    let most = at_once.max().unwrap_or(0);
    findings.check("ACKs come in batches", most >= 10, format!("up to {most} packets at once"));
    let (startup, next) = first(&seen, State::Startup)?;
    let left = &seen.moments[next.from];
    let extra = seen.of(startup).iter().map(|moment| moment.extra_acked).fold(0.0, f64::max);
    findings.check("extra_acked shows it", extra >= f64::from(most) / 4.0, format!("{extra:.1} packets"));
    let largest = seen.of(startup).iter().map(|moment| moment.cwnd).fold(0.0, f64::max);
    findings.check(
        "the window exceeds two products",
        largest > 2.0 * scenario.bdp(),
        format!("{largest:.1} packets, the product is {:.1}", scenario.bdp()),
    );
    let part = left.max_bw / scenario.capacity();
    findings.check(
        "Startup finds the whole bandwidth",
        (0.95..=1.1).contains(&part),
        format!("max_bw is {part:.3} of it"),
    );
    Ok(())
}

pub(super) fn cruise_aggregation(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    let scenario = aggregating(8.0);
    let seen = bench.run(&scenario)?;
    utilised(&seen, &scenario, 2.0, 0.9, findings);
    if !bench.shows_steps() {
        findings.unseen("extra_acked and the window in ProbeBW_CRUISE", NO_STATES);
        return Ok(());
    }
    let (cruise, _) = first(&seen, State::Cruise)?;
    let last = seen.of(cruise).last().ok_or_else(|| Ended::not_reached("no ProbeBW_CRUISE came"))?;
    findings.check("extra_acked is the batches'", last.extra_acked >= 4.0, format!("{:.1} packets", last.extra_acked));
    let window = (2.0 * last.bdp + last.extra_acked).min(last.inflight_longterm * 0.85).min(last.inflight_shortterm);
    findings.check(
        "the window is larger by it, within the bounds",
        last.cwnd >= window - 2.0,
        format!("{:.1} packets, two products and extra_acked are {:.1}", last.cwnd, 2.0 * last.bdp + last.extra_acked),
    );
    Ok(())
}

pub(super) fn sub_packet(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    let scenario = Scenario::bulk(0.4, 10.0, 50, 20.0);
    let seen = bench.run(&scenario)?;
    utilised(&seen, &scenario, 5.0, 0.9, findings);
    if !bench.shows_steps() {
        findings.unseen("the least window and the pacing rate", NO_STATES);
        return Ok(());
    }
    let probing = || seen.moments.iter().filter(|moment| moment.state.is_probe_bw());
    let least = probing().map(|moment| moment.cwnd).fold(f64::INFINITY, f64::min);
    findings.check(
        "the window is four packets at least",
        (4.0..f64::INFINITY).contains(&least),
        format!("{least:.1} packets"),
    );
    let last = seen.moments.last().ok_or_else(|| Ended::not_reached("nothing was sent"))?;
    let part = last.bw / scenario.capacity();
    findings.check("the bandwidth is found", (0.95..=1.05).contains(&part), format!("{part:.3} of it"));
    let cruising = probing().filter(|moment| moment.state == State::Cruise && moment.at > 5.0);
    let off = cruising.map(|moment| (moment.pacing_rate / moment.bw / 0.99 - 1.0).abs()).fold(0.0, f64::max);
    findings.check("ProbeBW_CRUISE paces at it", off < 0.02, format!("{:.1} % beside it at most", 100.0 * off));
    Ok(())
}

pub(super) fn up_10x(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    const AT: f64 = 5.0;
    // Loss that ends Startup sets inflight_longterm.
    let scenario = Scenario::bulk(5.0, 40.0, 100, 13.0).loses(30.0, 0.1, 0.25).changes(AT, "rate_mbps = 50");
    let seen = bench.run(&scenario)?;
    let full = 10.0 * scenario.capacity();
    let goodput = seen.goodput(scenario.duration - 2.0, scenario.duration);
    findings.check(
        "the flow gets ten times as much",
        goodput > 0.85 * full,
        format!("{goodput:.1} of {full:.1} Mbit/s in the last two seconds"),
    );
    if !bench.shows_steps() {
        findings.unseen("the steps of inflight_longterm in ProbeBW_UP", NO_STATES);
        return Ok(());
    }
    let (up, _) = seen.stay(State::Up, AT).ok_or_else(|| Ended::not_reached("no ProbeBW_UP came after the change"))?;
    let reached = seen.between(AT, scenario.duration).find(|moment| moment.max_bw > 0.9 * full);
    let rounds = reached.map_or(f64::INFINITY, |moment| moment.round - seen.moments[up.from].round);
    // A product of 17 packets becomes one of 170: the steps of 1, 2, 4 … packets a round come to that in eight rounds.
    findings.check(
        "within some rounds of the first ProbeBW_UP",
        rounds <= 30.0,
        format!("90 % of it after {rounds} rounds"),
    );
    if !seen.moments[up.from].inflight_longterm.is_finite() {
        findings.unseen("the step of inflight_longterm doubles each round", "it is not set: nothing was lost before");
        return Ok(());
    }
    let mut rises: Vec<f64> = Vec::new();
    let mut last = (seen.moments[up.from].round, seen.moments[up.from].inflight_longterm);
    for moment in seen.of(up) {
        if moment.round > last.0 {
            rises.push(moment.inflight_longterm - last.1);
            last = (moment.round, moment.inflight_longterm);
        }
    }
    let doubling = rises.windows(2).filter(|pair| pair[0] > 0.0 && pair[1] > 1.5 * pair[0]).count();
    findings.check(
        "the step of inflight_longterm doubles each round",
        doubling >= 2,
        format!("rises of {rises:.1?} packets"),
    );
    Ok(())
}

pub(super) fn down_10x(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    const AT: f64 = 4.0;
    let scenario = Scenario::bulk(30.0, 40.0, 60, 24.0).changes(AT, "rate_mbps = 3");
    let seen = bench.run(&scenario)?;
    let left = 0.1 * scenario.capacity();
    let goodput = seen.goodput(scenario.duration - 10.0, scenario.duration);
    findings.check(
        "the flow uses what is left",
        goodput > 0.85 * left,
        format!("{goodput:.2} of {left:.2} Mbit/s in the last ten seconds"),
    );
    if !bench.shows_steps() {
        findings.unseen("bw_shortterm and max_bw", NO_STATES);
        return Ok(());
    }
    let before = seen.before(AT).map_or(0.0, |moment| moment.max_bw);
    let adapted = seen.between(AT, scenario.duration).find(|moment| moment.bw_shortterm < 0.5 * before);
    let after = adapted.map_or(f64::INFINITY, |moment| moment.at - AT);
    findings.check(
        "bw_shortterm follows the loss",
        after < 2.0,
        format!("below half of the old bandwidth after {after:.2} s"),
    );
    let fell = seen.between(AT, scenario.duration).find(|moment| moment.max_bw < 1.1 * left);
    let after = fell.map_or(f64::INFINITY, |moment| moment.at - AT);
    findings.check(
        "max_bw follows in two cycles",
        after < 15.0,
        format!("within a tenth of the new bandwidth after {after:.2} s"),
    );
    Ok(())
}

/// A policer of 10 Mbit/s whose bucket holds a product, on a link of 100.
pub(super) fn policer(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    let policed = Scenario::bulk(10.0, 40.0, 0, 20.0);
    let seen = bench.run(&Scenario::bulk(100.0, 40.0, 0, policed.duration).policed(policed.rate, 50_000))?;
    // The draft names no share.
    utilised(&seen, &policed, 5.0, 0.5, findings);
    let loss = seen.loss();
    findings.check("loss does not go on", loss < 0.05, format!("{:.1} % of what was sent", 100.0 * loss));
    if !bench.shows_steps() {
        findings.unseen("the short-term bounds", NO_STATES);
        return Ok(());
    }
    let bounded = seen.moments.iter().find(|moment| {
        moment.state.is_probe_bw() && moment.bw_shortterm.is_finite() && moment.inflight_shortterm.is_finite()
    });
    findings.check(
        "both short-term bounds answer it",
        bounded.is_some(),
        bounded.map_or("neither is ever set".to_owned(), |moment| format!("set at {:.2} s", moment.at)),
    );
    Ok(())
}

/// The first loss that proves spurious in `seen` after `from`: what was before it, and what is after.
fn restored(seen: &Seen, from: f64, findings: &mut Findings) -> Result<(), Ended> {
    let at = |kinds: &[Kind], after: usize| {
        (after..seen.moments.len()).find(|index| kinds.contains(&seen.moments[*index].kind))
    };
    let start = seen
        .moments
        .iter()
        .position(|moment| moment.at >= from)
        .ok_or_else(|| Ended::not_reached("the run is over"))?;
    let lost =
        at(&[Kind::Lost, Kind::Persistent], start).ok_or_else(|| Ended::not_reached("nothing was taken for lost"))?;
    let spurious = at(&[Kind::Spurious], lost).ok_or_else(|| Ended::not_visible("no loss was reported as spurious"))?;
    let (before, after) = (&seen.moments[lost.saturating_sub(1)], &seen.moments[spurious]);
    let bounds = [
        ("inflight_longterm", before.inflight_longterm, after.inflight_longterm),
        ("inflight_shortterm", before.inflight_shortterm, after.inflight_shortterm),
        ("bw_shortterm", before.bw_shortterm, after.bw_shortterm),
    ];
    for (name, before, after) in bounds {
        findings.check(
            &format!("{name} is what it was before the loss, or more"),
            after >= before * 0.999,
            format!("{before:.1}, then {after:.1}"),
        );
    }
    findings.check(
        "the state is what it was, or one that follows it",
        after.state == before.state || before.state.is_probe_bw() == after.state.is_probe_bw(),
        format!("{:?}, then {:?}", before.state, after.state),
    );
    Ok(())
}

pub(super) fn spurious_recovery(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    bench.needs_steps()?;
    let scenario = Scenario::bulk(20.0, 40.0, 200, 6.0);
    let seen = bench.run(&scenario)?;
    let (up, _) = first(&seen, State::Up)?;
    let at = seen.began(up) + 0.02;
    let seen = bench.run(&scenario.faults(at, 300.0, "kind = \"reordering\"\npercent = 5\nby_ms = 10"))?;
    restored(&seen, at, findings)
}

/// QUIC has no retransmission timeout; what comes nearest is persistent congestion that proves spurious.
pub(super) fn spurious_rto(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    bench.needs_steps()?;
    let scenario = Scenario::bulk(20.0, 40.0, 200, 8.0);
    let seen = bench.run(&scenario)?;
    let (up, _) = first(&seen, State::Up)?;
    let at = seen.began(up) + 0.02;
    // All packets of 0.4 s are held back, most for longer than the run; the next that comes shows that they are missing.
    let held = "kind = \"reordering\"\npercent = 100\nby_ms = 100000";
    let seen = bench.run(&scenario.clone().faults(at, 400.0, held))?;
    let persistent = seen.between(at, 8.0).find(|moment| moment.kind == Kind::Persistent);
    match persistent {
        Some(moment) => findings.check("persistent congestion is declared", true, format!("at {:.2} s", moment.at)),
        None => findings.unseen("persistent congestion is declared", "the stack declared none"),
    }
    restored(&seen, at, findings)?;
    let goodput = seen.goodput(7.0, 8.0);
    findings.check(
        "the flow goes on as before",
        goodput > 0.85 * scenario.capacity(),
        format!("{goodput:.1} Mbit/s in the last second"),
    );
    Ok(())
}
