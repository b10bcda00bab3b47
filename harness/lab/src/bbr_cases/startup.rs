//! Cases of Startup and Drain.

use super::bench::{Bench, Ended, Findings, NO_STATES, Scenario};
use super::seen::{Kind, Moment, Seen, State, Stay};

/// Rounds whose bandwidth grows by less than a quarter, after which the pipe counts as full (§5.3.1.2).
const FULL_BW_ROUNDS: f64 = 3.0;

/// A path on which nothing is lost.
pub(super) fn roomy(duration: f64) -> Scenario {
    Scenario::bulk(10.0, 40.0, 200, duration)
}

/// An application that writes 40 of 100 Mbit/s.
pub(super) fn app_limited(duration: f64) -> Scenario {
    Scenario::bulk(100.0, 40.0, 1000, duration).flow("application_mbps = 40")
}

/// The first stay in `state`, with the next.
pub(super) fn first(seen: &Seen, state: State) -> Result<(Stay, Stay), Ended> {
    let (stay, next) = seen.stay(state, 0.0).ok_or_else(|| Ended::NotReached(format!("no {state:?} came")))?;
    next.map(|next| (stay, next)).ok_or_else(|| Ended::NotReached(format!("{state:?} lasted to the end of the run")))
}

pub(super) fn plateau(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    let scenario = roomy(3.0);
    let seen = bench.run(&scenario)?;
    let capacity = scenario.capacity();
    let goodput = seen.goodput(1.0, 3.0);
    findings.check(
        "the flow gets the bandwidth",
        goodput > 0.9 * capacity,
        format!("{goodput:.2} of {capacity:.2} Mbit/s from 1 s on"),
    );
    if !bench.shows_steps() {
        findings.unseen("Startup goes over to Drain after three rounds of less than 25 % growth", NO_STATES);
        return Ok(());
    }
    let (startup, next) = first(&seen, State::Startup)?;
    findings.check("Startup goes over to Drain", next.state == State::Drain, format!("to {:?}", next.state));
    let moments = seen.of(startup);
    let left = &seen.moments[next.from];
    let lost = moments.iter().filter(|moment| moment.kind == Kind::Lost).count();
    findings.check("no loss ends it", lost == 0, format!("{lost} reports of loss"));
    findings.check(
        "max_bw is within 2 % of the bandwidth",
        (left.max_bw / capacity - 1.0).abs() <= 0.02,
        format!("{:.3} of {capacity:.3} Mbit/s", left.max_bw),
    );
    let before = moments.last().is_none_or(|moment| moment.full_bw_reached);
    findings.check(
        "full_bw_reached is set with it",
        left.full_bw_reached && !before,
        format!("{}", left.full_bw_reached),
    );
    // The last baseline that a round exceeded by a quarter is the beginning of the plateau.
    let earlier = moments.iter().rev().find(|moment| moment.round < left.round - FULL_BW_ROUNDS);
    let growth = earlier.map_or(f64::INFINITY, |moment| left.max_bw / moment.max_bw);
    let rising = moments.iter().find(|moment| moment.max_bw * 1.25 > left.max_bw).map_or(left.round, |at| at.round);
    findings.check(
        "three rounds brought less than 25 % each, and no fourth was waited for",
        (FULL_BW_ROUNDS..=FULL_BW_ROUNDS + 2.0).contains(&(left.round - rising)),
        format!(
            "{} rounds on the plateau; {growth:.2} times the bandwidth of four rounds earlier",
            left.round - rising
        ),
    );
    Ok(())
}

pub(super) fn loss(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    bench.needs_steps()?;
    let seen = bench.run(&app_limited(2.5).loses(8.0, 1.0, 1.2))?;
    let (startup, next) = first(&seen, State::Startup)?;
    let samples = seen.between(0.5, 1.0).filter(|moment| matches!(moment.kind, Kind::Acked(_)));
    let limited = samples.clone().filter(|moment| moment.app_limited).count();
    let all = samples.count();
    findings.check("samples are application-limited", limited * 10 > all * 9, format!("{limited} of {all}"));
    let left = &seen.moments[next.from];
    let first_loss = seen.of(startup).iter().find(|moment| moment.kind == Kind::Lost);
    let rounds = first_loss.map_or(f64::INFINITY, |loss| left.round - loss.round);
    findings.check(
        "loss of 8 % ends Startup within three rounds",
        left.at >= 1.0 && rounds <= 3.0,
        format!("left at {:.3} s, {rounds} rounds after the first loss", left.at),
    );
    findings.check("it goes over to Drain", goes_to(State::Drain, left), format!("to {:?}", next.state));
    findings.check("full_bw_reached is set", left.full_bw_reached, format!("{}", left.full_bw_reached));
    Ok(())
}

/// Whether the flow went over to `state`, or through it at once: a state that drains ends with the same ACK where no more is in
/// flight than fits.
pub(super) fn goes_to(state: State, left: &Moment) -> bool {
    left.state == state
        || left.state == State::Cruise && left.in_flight.is_some_and(|in_flight| in_flight <= left.inflight())
}

/// The pacing rate as a part of the estimated bandwidth in a stay, once it is set.
pub(super) fn pacing_gain(seen: &Seen, stay: Stay) -> f64 {
    let moment = seen.of(stay).iter().rev().find(|moment| matches!(moment.kind, Kind::Acked(_)));
    moment.map_or(f64::NAN, |moment| moment.pacing_rate / moment.bw)
}

/// Whether `gain` is `of`, less the margin of 1 % (§5.6.2).
pub(super) fn is_gain(gain: f64, of: f64) -> bool {
    (gain / (0.99 * of) - 1.0).abs() < 0.02
}

pub(super) fn drain_by_inflight(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    bench.needs_steps()?;
    let seen = bench.run(&roomy(3.0))?;
    let (drain, next) = first(&seen, State::Drain)?;
    let gain = pacing_gain(&seen, drain);
    findings.check(
        "Drain paces at half the bandwidth",
        is_gain(gain, 0.5),
        format!("{gain:.3} of it, margin included"),
    );
    let left = &seen.moments[next.from];
    let above =
        seen.of(drain).iter().all(|moment| moment.in_flight.is_none_or(|in_flight| in_flight > moment.inflight()));
    findings.check("it lasts while more than BBRInflight(1.0) is in flight", above, format!("{above}"));
    let in_flight = left.in_flight.unwrap_or(f64::NAN);
    findings.check(
        "it ends with that",
        in_flight <= left.inflight(),
        format!("{in_flight:.1} packets in flight, {:.1} fit", left.inflight()),
    );
    findings.check("it goes over to ProbeBW", next.state.is_probe_bw(), format!("to {:?}", next.state));
    Ok(())
}

/// The draft takes away a tenth of the bandwidth, which Drain, at half of it, still drains; half of it it does not.
pub(super) fn drain_by_time(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    bench.needs_steps()?;
    let scenario = roomy(4.0);
    let seen = bench.run(&scenario)?;
    let (drain, _) = first(&seen, State::Drain)?;
    let half = format!("rate_mbps = {}", 0.5 * scenario.rate);
    let at = seen.began(drain);
    let seen = bench.run(&scenario.changes(at, &half))?;
    let (drain, next) = first(&seen, State::Drain)?;
    let left = &seen.moments[next.from];
    let in_flight = seen.of(drain).last().and_then(|moment| moment.in_flight).unwrap_or(f64::NAN);
    let inflight = seen.of(drain).last().map_or(f64::NAN, |moment| moment.inflight());
    findings.check(
        "more than BBRInflight(1.0) is in flight to the end",
        in_flight > inflight,
        format!("{in_flight:.1} packets, {inflight:.1} fit"),
    );
    let rounds = left.round - seen.moments[drain.from].round;
    findings.check("Drain ends after three rounds", (3.0..=4.0).contains(&rounds), format!("after {rounds}"));
    findings.check("it goes over to ProbeBW", next.state.is_probe_bw(), format!("to {:?}", next.state));
    Ok(())
}

pub(super) fn probe_rtt_in_startup(bench: &Bench<'_>, findings: &mut Findings) -> Result<(), Ended> {
    bench.needs_steps()?;
    // An application-limited flow stays in Startup for as long as nothing is lost.
    let seen = bench.run(&Scenario::bulk(20.0, 40.0, 1000, 8.0).flow("application_mbps = 4"))?;
    let (startup, probe) = first(&seen, State::Startup)?;
    let from = seen.began(probe);
    findings.check(
        "the RTT's age ends Startup",
        probe.state == State::ProbeRtt && !seen.moments[probe.from].full_bw_reached,
        format!("{:?} at {from:.2} s, {} moments after it began", probe.state, startup.to - startup.from),
    );
    let (_, next) = first(&seen, State::ProbeRtt)?;
    let lasted = seen.began(next) - from;
    findings.check("ProbeRTT lasts 200 ms", (0.2..0.4).contains(&lasted), format!("{:.0} ms", 1e3 * lasted));
    findings.check("it goes back to Startup", next.state == State::Startup, format!("to {:?}", next.state));
    Ok(())
}
