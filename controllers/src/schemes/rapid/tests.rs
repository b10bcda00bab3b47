//! `spec: arumaithurai §5.6, §8 I38, §10`.

use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::Parameters;
use crate::event::{PacketSent, PacketsAcked, PacketsLost, WindowSet};
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, rtt};

const MS: u64 = 1_000_000;

fn step(params: &Params, state: State, now: u64, kind: EventKind) -> State {
    testkit::step::<Rapid>(params, state, Time(now), kind)
}

/// A flow in steady state at `rate` that knows an RTT of 50 ms.
fn steady(params: &Params, rate: f64) -> State {
    let mut state = Rapid::start(params, &PATH);
    state = step(params, state, MS, EventKind::RttSampled(rtt(Span(50 * MS))));
    (state.rate, state.start) = (rate, None);
    state.next_train(params, Time(MS));
    state
}

/// Sends the train in force from `now` on over a path with `spare` bit/s and an empty
/// queue: its packets as sent, and as the peer received them.
fn train(params: &Params, mut state: State, now: u64, spare: f64) -> (State, Vec<ProbeReceived>, u64) {
    let plan = state.plan;
    let mut sent_at = now;
    let (mut free_at, mut probes) = (0u64, Vec::new());
    for index in 0..plan.packets {
        let place = Place { train: plan.id, index };
        sent_at = now + plan.offset(index).0;
        let sent = PacketSent { bytes: u64::from(MTU), pn: None, in_flight: 0, app_limited: false, place: Some(place) };
        state = step(params, state, sent_at, EventKind::PacketSent(sent));
        free_at = free_at.max(sent_at) + (8e9 * f64::from(MTU) / spare) as u64;
        let one_way = Some((free_at - sent_at) as i64);
        probes.push(ProbeReceived { train: plan.id, index, ce: false, one_way, sent_at: Time(sent_at) });
    }
    (state, probes, sent_at)
}

fn feed(params: &Params, mut state: State, now: u64, probes: &[ProbeReceived]) -> State {
    for probe in probes {
        state = step(params, state, now, EventKind::ProbeReceived(*probe));
    }
    state
}

/// One train at `rate` over a path with `spare`: the rate after it.
fn answered(params: &Params, rate: f64, spare: f64) -> f64 {
    let (state, probes, end) = train(params, steady(params, rate), 10 * MS, spare);
    feed(params, state, end + 50 * MS, &probes).rate
}

#[test]
fn a_flow_starts_with_a_train_of_two_and_the_next_follows_its_last_packet() {
    let params = Params::default();
    let state = Rapid::start(&params, &PATH);
    let plan = Rapid::decide(&params, &state, View::solo(&())).train.unwrap();
    assert_eq!((plan.packets, plan.min_rate, plan.carries_data), (2, 1e8, true));
    let first = step(&params, state, 1, EventKind::RttSampled(rtt(Span(50 * MS))));
    assert_eq!((first.rate, first.plan.packets), (320e3, 2), "two packets per round trip once one is known");
    assert_eq!(step(&params, first, 2, EventKind::RttSampled(rtt(Span(25 * MS)))).plan, first.plan);
    let paper = Params::paper();
    assert_eq!(step(&paper, state, 1, EventKind::RttSampled(rtt(Span(50 * MS)))).plan, state.plan);
    let (after, _, _) = train(&params, state, 0, 1e7);
    assert_eq!(after.plan.id, plan.id + 1);
    let sent = PacketSent { bytes: 1, pn: None, in_flight: 0, app_limited: false, place: None };
    assert_eq!(
        step(&params, after, 9 * MS, EventKind::PacketSent(sent)).plan,
        after.plan,
        "a packet outside the train"
    );
}

/// `spec: arumaithurai §5.6 rule 2, §10`: K(30, 1.07), and the mean rate of a train is r_avg.
#[test]
fn a_train_tries_from_half_of_its_mean_rate_to_three_times_it() {
    let state = steady(&Params::paper(), 10e6);
    assert_eq!((state.plan.packets, state.plan.spread), (30, 1.07));
    assert_close(state.plan.min_rate, 4.530_038_362_4e6, 1e-10);
    assert_close(state.plan.chirp().mean_rate(), 10e6, 1e-9);
    assert_close(state.plan.chirp().max_rate() / 10e6, 3.011_949_3, 1e-7);
}

/// Rules 3, 4: the rate becomes what the path had to spare, within a gap's step, from
/// below as well as from above.
#[test]
fn the_rate_becomes_what_is_spare() {
    let params = Params::default();
    for spare in [6e6, 10e6, 14e6, 25e6] {
        let rate = answered(&params, 10e6, spare);
        assert!((spare / 1.08..=spare).contains(&rate), "{rate} of {spare}");
        let rate = answered(&Params::paper(), 10e6, spare);
        assert!((spare..=1.08 * spare).contains(&rate), "by the letter {rate} of {spare}");
    }
    assert_close(answered(&params, 10e6, 1e9), 30.119_493e6, 1e-3);
    assert_close(answered(&params, 10e6, 1e6), 4.53e6, 1e-3);
}

/// I38: no estimate lies outside the rates of its train.
#[test]
fn slow_start_doubles_trains_per_round_trip_and_ends_with_sixteen() {
    let params = Params::default();
    let mut state = Rapid::start(&params, &PATH);
    state = step(&params, state, 1, EventKind::RttSampled(rtt(Span(50 * MS))));
    let (mut now, mut sizes) = (0, Vec::new());
    while state.start.is_some() {
        now += 50 * MS;
        let plan = state.plan;
        if sizes.last() != Some(&plan.packets) {
            sizes.push(plan.packets);
        }
        let (after, probes, end) = train(&params, state, now, 1e12);
        state = feed(&params, after, end + MS, &probes);
        // The next train ends the reading of one that was shorter than it.
        let next = ProbeReceived { train: state.plan.id, index: 0, ..probes[0] };
        state = feed(&params, state, end + MS, &[next]);
        state.reading = None;
        assert!(state.rate <= 1.01 * plan.chirp().max_rate() && state.rate >= plan.min_rate);
        now = end;
        assert!(sizes.len() < 10);
    }
    assert_eq!(sizes, [2, 4, 8, 16]);
}

#[test]
fn slow_start_ends_when_a_train_has_found_less_than_its_highest_rate() {
    let params = Params::default();
    let mut state = Rapid::start(&params, &PATH);
    state.start = Some(8);
    state.next_train(&params, Time(1));
    let (after, probes, end) = train(&params, state, 10 * MS, 2e6);
    assert_eq!(after.start, Some(8));
    let state = feed(&params, after, end + MS, &probes);
    assert_eq!(state.start, None);
}

/// Rule 6.
#[test]
fn a_loss_halves_the_rate_once_and_voids_the_trains_before_it() {
    let params = Params::default();
    let (state, probes, end) = train(&params, steady(&params, 10e6), 10 * MS, 14e6);
    let cut = step(&params, state, end + MS, EventKind::PacketsLost(lost(Time(11 * MS))));
    assert_eq!(cut.rate, 5e6);
    assert_eq!(step(&params, cut, end + 2 * MS, EventKind::PacketsLost(lost(Time(12 * MS)))).rate, 5e6);
    assert_eq!(feed(&params, cut, end + 50 * MS, &probes).rate, 5e6, "began before the loss");
    let (state, probes, end) = train(&params, cut, end + 2 * MS, 8e6);
    let rate = feed(&params, state, end + 50 * MS, &probes).rate;
    assert!((7.4e6..=8e6).contains(&rate), "{rate}");
}

/// Rule 6: an estimate comes from the packets before the first that is missing.
#[test]
fn a_train_with_a_hole_is_read_up_to_it() {
    let params = Params::default();
    let (state, mut probes, end) = train(&params, steady(&params, 10e6), 10 * MS, 1e9);
    probes.remove(10);
    let rate = feed(&params, state, end + 50 * MS, &probes).rate;
    assert_close(rate, state_rate(10), 1e-3);
}

/// The rate of the last gap before packet `index`, from 0, of a steady train at 10 Mbit/s.
fn state_rate(index: u32) -> f64 {
    steady(&Params::default(), 10e6).plan.chirp().rate(index - 1)
}

/// Rule 7.
#[test]
fn a_train_that_had_to_wait_for_data_shows_nothing() {
    let params = Params::default();
    let (state, mut probes, end) = train(&params, steady(&params, 10e6), 10 * MS, 14e6);
    for probe in &mut probes[12..] {
        probe.sent_at.0 += 40 * MS;
    }
    assert_eq!(feed(&params, state, end + 90 * MS, &probes).rate, 10e6);
}

#[test]
fn timeouts_and_idleness_start_over() {
    let params = Params::default();
    let state = steady(&params, 50e6);
    let idle = crate::event::IdleRestart { idle: Span(900 * MS), pto: Span(300 * MS) };
    for kind in [EventKind::PersistentCongestion(lost(Time(5))), EventKind::IdleRestart(idle)] {
        let after = step(&params, state, 1000 * MS, kind);
        // Two packets per round trip of 50 ms.
        assert_eq!((after.rate, after.plan.packets, after.plan.min_rate), (320e3, 2, 320e3));
        assert_ne!(after.plan.id, state.plan.id);
    }
    let short = crate::event::IdleRestart { idle: Span(9 * MS), pto: Span(300 * MS) };
    let after = step(&params, state, 1000 * MS, EventKind::IdleRestart(short));
    assert_eq!((after.rate, after.plan, after.start), (state.rate, state.plan, state.start));
}

#[test]
fn the_filtered_variant_rises_by_a_share_and_falls_by_a_third() {
    let params = Params { follow: Follow::Filtered, ..Params::default() };
    // A train at 10 Mbit/s of 1000-byte packets lasts 23.2 ms: 11.6 % of 200 ms.
    let literal = answered(&Params::default(), 10e6, 20e6);
    assert_close(answered(&params, 10e6, 20e6), 10e6 + 0.116 * (literal - 10e6), 1e-3);
    let literal = answered(&Params::default(), 10e6, 7e6);
    assert_close(answered(&params, 10e6, 7e6), 10e6 - (10e6 - literal) / 3.0, 1e-6);
}

/// The window bounds what is in flight, and never holds a train back.
#[test]
fn two_round_trips_and_a_train_may_be_in_flight() {
    let params = Params::default();
    let cwnd = |state: &State| Rapid::decide(&params, state, View::solo(&())).cwnd;
    assert_eq!(cwnd(&Rapid::start(&params, &PATH)), 10_000);
    assert_eq!(cwnd(&steady(&params, 10e6)), 125_000 + 30_000);
    assert!(size_of::<State>() <= 512, "{}", size_of::<State>());
}

proptest! {
    #![proptest_config(cases(2000))]

    /// I38: the rate is always within the rates of the train that was answered last, or
    /// what a loss made of it. It never falls below a packet per round trip, so none starts
    /// lower.
    #[test]
    fn the_rate_stays_within_its_train(
        rate in 2e5..1e9f64,
        delays in prop::collection::vec(-2_000_000i64..2_000_000, 30),
        missing in prop::option::of(1usize..30),
    ) {
        let params = Params::default();
        let start = steady(&params, rate);
        let chirp = start.plan.chirp();
        let (state, mut probes, end) = train(&params, start, 10 * MS, 1e12);
        for (probe, delay) in probes.iter_mut().zip(delays) {
            probe.one_way = Some(delay);
        }
        if let Some(missing) = missing {
            probes.remove(missing);
        }
        let after = feed(&params, state, end + 50 * MS, &probes);
        let least = chirp.min_rate.min(rate).max(8.0 * f64::from(MTU) / 0.05);
        prop_assert!(after.rate >= 0.99 * least && after.rate <= 1.01 * chirp.max_rate().max(least));
    }

    /// Whatever happens, a train can be sent.
    #[test]
    fn trains_can_be_sent(script in testkit::trace::scripts(50)) {
        let params = Params::default();
        let mut sound = true;
        testkit::trace::run::<Rapid>(&params, 1, &script, |_, _, after| {
            let plan = after.plan;
            sound &= plan.min_rate.is_finite() && plan.min_rate > 0.0 && plan.packets >= 2;
            let least = (LEAST * f64::from(after.mtu)) as u64;
            sound &= after.rate.is_finite() && after.window(&params) >= least;
        });
        prop_assert!(sound);
    }
}

/// `RFC 2914 §5`; `RFC 8085 §3.1`: what losses bound is the rate and what is in flight, whatever trains show.
#[test]
fn losses_bound_rate_and_window() {
    let round = |params: &Params, mut state: State, now: u64, lost: u32| {
        let sent_at = Time(now + MS);
        if lost > 0 {
            let kind = EventKind::PacketsLost(PacketsLost { packets: lost, ..testkit::lost(sent_at) });
            state = step(params, state, now + 40 * MS, kind);
        }
        step(params, state, now + 50 * MS, EventKind::PacketsAcked(acked(100 - lost, sent_at)))
    };
    let params = Params::default();
    let mut state = round(&params, steady(&params, 100e6), 100 * MS, 0);
    state = round(&params, state, 200 * MS, 20);
    // Half of the hundred packets in flight.
    assert_eq!(state.window(&params), 50 * u64::from(MTU));
    let (mut fast, probes, end) = train(&params, state, 300 * MS, 1e9);
    fast = feed(&params, fast, end + 50 * MS, &probes);
    assert_eq!(fast.rate, 50.0 * 8.0 * f64::from(MTU) / 0.05, "however much a train shows");
    let paper = Params::paper();
    let free = round(&paper, round(&paper, steady(&paper, 100e6), 100 * MS, 0), 200 * MS, 20);
    assert_eq!(free.rate, 50e6, "the document halves and no more");
    assert!(free.window(&paper) > 600 * u64::from(MTU));
}

#[test]
fn acknowledgements_without_samples_change_nothing() {
    let params = Params::default();
    let state = steady(&params, 10e6);
    let mut after =
        step(&params, state, 60 * MS, EventKind::PacketsAcked(PacketsAcked { rtt: None, ..acked(5, Time(10 * MS)) }));
    after.backstop = state.backstop;
    assert_eq!(after, state, "but for the losses' own count");
}

/// RFC 9959: a window that is set is a train and two round trips at a rate, whose train is the next in slow start's last size.
#[test]
fn a_flow_goes_on_with_a_window_that_is_set() {
    let params = Params::default();
    let start = step(&params, Rapid::start(&params, &PATH), MS, EventKind::RttSampled(rtt(Span(50 * MS))));
    let set = |state, cwnd| step(&params, state, 2 * MS, EventKind::WindowSet(WindowSet::new(cwnd)));
    let decide = |state: &State| Rapid::decide(&params, state, View::solo(&()));
    let resumed = set(start, 116_000);
    assert_eq!((decide(&resumed).cwnd, decide(&resumed).pacing_rate), (116_000, Some(8_000_000)));
    assert_eq!((resumed.plan.packets, resumed.plan.id), (16, start.plan.id + 1));
    assert_eq!(set(resumed, 116_000), resumed, "the train goes on");
    let cut = set(resumed, 26_000);
    assert_eq!((decide(&cut).cwnd, cut.rate, cut.plan), (26_000, 800_000.0, resumed.plan));
}
