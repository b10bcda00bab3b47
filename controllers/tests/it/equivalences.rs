//! Schemes that are the same scheme under some parameters are so to the bit, over random
//! sequences of plausible and hostile events (`spec: cho §10`).

use std::fmt::Debug;
use std::ops::Range;

use crate::sender::Sender;
use crate::shared::Flows;
use windlass_controllers::event::{OneWay, Queueing, RttSample};
use windlass_controllers::parts::base::Base;
use windlass_controllers::parts::base_delay;
use windlass_controllers::parts::competition::{Detector, Settings};
use windlass_controllers::parts::limits::{Growth, Limits};
use windlass_controllers::parts::vegas;
use windlass_controllers::parts::window_controller::{State, WindowController};
use windlass_controllers::schemes::cm::{self, Cm};
use windlass_controllers::schemes::compose::Compose;
use windlass_controllers::schemes::enhanced_vegas::{self, EnhancedVegas};
use windlass_controllers::schemes::red_vegas::{self, RedVegas};
use windlass_controllers::schemes::rovegas::{self, RoVegas};
use windlass_controllers::schemes::vegas::Vegas;
use windlass_controllers::schemes::{
    a_tcp, a_tcp_p, aimd, cocoon, dca, fractional, highspeed, multcp, reno, tcp_africa, tcp_k, tcp_p,
};
use windlass_controllers::{
    Algorithm, ConfiguredController, Controller, Ecn, Event, EventKind, Parameters, Span, Static, Time,
};

type ATcp = WindowController<a_tcp::ATcp>;
type ATcpP = WindowController<a_tcp_p::ATcpP>;
type Aimd = WindowController<aimd::Aimd>;
type Cocoon = WindowController<cocoon::Cocoon>;
type Combined = WindowController<fractional::Combined>;
type DcaC = WindowController<dca::DcaC>;
type DcaS = WindowController<dca::DcaS>;
type Dual = WindowController<dca::Dual>;
type Fractional = WindowController<fractional::Fractional>;
type HighSpeed = WindowController<highspeed::HighSpeed>;
type MulTcp = WindowController<multcp::MulTcp>;
type Reno = WindowController<reno::Reno>;
type TcpAfrica = WindowController<tcp_africa::TcpAfrica>;
type TcpK = WindowController<tcp_k::TcpK>;
type TcpP = WindowController<tcp_p::TcpP>;

/// A sample whose own RTT is a quarter of what it was; the estimates stay.
fn quartered(rtt: &RttSample) -> RttSample {
    RttSample::new(Span(rtt.latest.0 >> 2), rtt.smoothed, rtt.variation, rtt.min).with_ack_delay(rtt.ack_delay)
}

/// Sequences per pair of schemes.
fn seeds() -> Range<u64> {
    0..u64::from(crate::shared::wanted(10_000))
}

/// Events of a sequence: a few, or now and then so many that a flow gets far.
fn events(seed: u64) -> Range<u64> {
    0..if seed % 8 == 0 { 160 } else { 32 }
}

/// Every way windows start, grow and floor.
fn bases() -> [Base; 5] {
    let packets = Limits { growth: Growth::Packets, ..Limits::default() };
    [Base::default(), Limits::cho().into(), packets.into(), Base::sharma_limited(), Limits::arumaithurai().into()]
}

fn case(seed: u64) -> (Sender, Base) {
    (Sender::new(seed, seed % 2 == 0), bases()[(seed % 5) as usize])
}

/// Two groups of `size` flows get the same events and must hold the same windows and
/// decide the same; how the schemes' memories compare is no matter.
fn same<A, B, M, N>(seed: u64, size: u64, mut sender: Sender, a: A::Params, b: B::Params)
where
    A: Controller<State = State<M>> + Debug + 'static,
    B: Controller<State = State<N>> + Debug + 'static,
{
    let mut a = Flows::new(Static::<A>(a));
    let mut b = Flows::new(Static::<B>(b));
    for _ in 0..size {
        a.join(&sender.path());
        b.join(&sender.path());
    }
    let mut decision = a.decide(0);
    for i in events(seed) {
        let me = sender.random.below(size) as usize;
        let event = sender.event(&decision);
        a.step(me, &event);
        b.step(me, &event);
        for flow in 0..size as usize {
            assert_eq!(a.states[flow].window, b.states[flow].window, "seed {seed}, event {i}, flow {flow}: {event:?}");
            assert_eq!(a.decide(flow), b.decide(flow), "seed {seed}, event {i}, flow {flow}: {event:?}");
        }
        decision = a.decide(me);
    }
}

#[test]
fn tcp_k_of_one_is_reno() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let k = tcp_k::Params { base, k: 1, slow_start_cap: 1.0 + (seed % 3) as f64 };
        same::<TcpK, Reno, _, _>(seed, 1, sender, k, reno::Params { base });
    }
}

#[test]
fn aimd_of_one_and_a_half_is_reno() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        same::<Aimd, Reno, _, _>(seed, 1, sender, aimd::Params { base, a: 1.0, b: 0.5 }, reno::Params { base });
    }
}

#[test]
fn a_group_of_one_is_tcp_k() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let (k, slow_start_cap) = (1 + (seed / 7 % 6) as u32, if seed % 3 == 0 { f64::INFINITY } else { 1.0 });
        let p = tcp_p::Params { base, k, slow_start_cap, linux_counters: false };
        same::<TcpP, TcpK, _, _>(seed, 1, sender, p, tcp_k::Params { base, k, slow_start_cap });
    }
}

#[test]
fn a_group_as_large_as_its_strength_is_so_many_renos() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let size = 1 + seed % 6;
        let p = tcp_p::Params { base, k: size as u32, ..Default::default() };
        same::<TcpP, Reno, _, _>(seed, size, sender, p, reno::Params { base });
    }
}

#[test]
fn a_tcp_held_at_one_is_reno() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let detector = Settings { k_max: 1, ..Default::default() };
        let a = a_tcp::Params { base, detector, ..Default::default() };
        same::<ATcp, Reno, _, _>(seed, 1, sender, a, reno::Params { base });
    }
}

#[test]
fn an_adaptive_group_of_one_is_a_tcp() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let slow_start_cap = if seed % 3 == 0 { f64::INFINITY } else { 1.0 };
        let freeze_app_limited = seed % 4 == 0;
        // Short waits: every sequence sees many checks.
        let detector = Settings { freeze_app_limited, check_wait: 1.0, loss_wait: 0.5, ..Default::default() };
        let params = a_tcp::Params { base, detector, slow_start_cap };
        same::<ATcpP, ATcp, _, _>(seed, 1, sender, params, params);
    }
}

/// `spec: cho §3.4` D6.
#[test]
fn a_collaborating_group_of_one_yields_like_a_flow_alone() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let params = dca::Params { base, gamma: 0.1 * (seed % 10) as f64, ..Default::default() };
        same::<DcaC, DcaS, _, _>(seed, 1, sender, params, params);
    }
}

/// A least delay that is believed for ever.
const FOR_EVER: base_delay::Settings = base_delay::Settings { base_window: 0.0 };

/// `spec: cho §3.4` D6: no sample is beyond all of its range.
#[test]
fn a_flow_that_never_yields_to_delay_is_reno() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let params = dca::Params { base, gamma: 1.0, path: FOR_EVER, ..Default::default() };
        same::<DcaS, Reno, _, _>(seed, 1, sender, params, reno::Params { base });
        let (sender, base) = case(seed);
        same::<DcaC, Reno, _, _>(seed, 1 + seed % 6, sender, params, reno::Params { base });
    }
}

#[test]
fn multcp_of_weight_one_is_reno() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let params = multcp::Params { base, n: 1.0, slow_start_gain: 1.0 + (seed % 3) as f64 / 2.0 };
        same::<MulTcp, Reno, _, _>(seed, 1, sender, params, reno::Params { base });
    }
}

/// MulTCP is AIMD(n, 1/2n) with its own slow start; QUIC's has none of its own.
#[test]
fn multcp_is_aimd() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let n = 1.0 + (seed % 9) as f64 / 2.0;
        let params = multcp::Params { base, n, slow_start_gain: 1.0 };
        same::<MulTcp, Aimd, _, _>(seed, 1, sender, params, aimd::Params { base, a: n, b: 0.5 / n });
    }
}

/// `spec: cho §9`: a fractional group of one, a combined one of up to two, a COCOON of one
/// are standard flows.
#[test]
fn small_groups_of_slowed_or_collaborating_flows_are_renos() {
    for seed in seeds() {
        let reno = reno::Params { base: case(seed).1 };
        let (sender, base) = case(seed);
        same::<Fractional, Reno, _, _>(seed, 1, sender, fractional::Params { base }, reno);
        let (sender, base) = case(seed);
        same::<Combined, Reno, _, _>(seed, 1 + seed % 2, sender, fractional::Params { base }, reno);
        let (sender, base) = case(seed);
        same::<Cocoon, Reno, _, _>(seed, 1, sender, cocoon::Params { base }, reno);
    }
}

/// `spec: cho §9`: the one window is a standard flow's. In a group of any size it is that
/// of a flow which gets all members' events, but for what a spurious loss gives back and
/// what a sibling's recovery period says of older packets.
#[test]
fn a_congestion_manager_of_one_is_reno() {
    for seed in seeds() {
        let (mut sender, base) = case(seed);
        let mut cm = Flows::new(Static::<Cm>(cm::Params { base }));
        let mut reno = Flows::new(Static::<Reno>(reno::Params { base }));
        cm.join(&sender.path());
        reno.join(&sender.path());
        let mut decision = reno.decide(0);
        for i in events(seed) {
            let event = sender.event(&decision);
            cm.step(0, &event);
            reno.step(0, &event);
            decision = reno.decide(0);
            assert_eq!(cm.decide(0), decision, "seed {seed}, event {i}: {event:?}");
        }
    }
}

/// `spec: cho §9`.
#[test]
fn tcp_africa_without_a_limit_to_its_queue_is_highspeed() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let base =
            Base { limits: Limits { iw: 10.0 + (seed % 7) as f64 * 100.0, ssthresh: 50.0, ..base.limits }, ..base };
        let africa = tcp_africa::Params { base, alpha: f64::INFINITY, ..Default::default() };
        same::<TcpAfrica, HighSpeed, _, _>(seed, 1, sender, africa, highspeed::Params { base, ..Default::default() });
    }
}

/// `spec: cho §9`: up to the low window both of its modes are standard TCP.
#[test]
fn tcp_africa_with_a_small_window_is_reno() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let base = Base { limits: Limits { max_window: 38.0, ..base.limits }, ..base };
        let africa = tcp_africa::Params { base, alpha: (seed % 3) as f64, ..Default::default() };
        same::<TcpAfrica, Reno, _, _>(seed, 1, sender, africa, reno::Params { base });
    }
}

/// `spec: chan §9`, as D6 of DCA.
#[test]
fn dual_that_never_yields_to_delay_is_reno() {
    for seed in seeds() {
        let (sender, base) = case(seed);
        let dual = dca::DualParams { base: dca::Params { base, gamma: 1.0, path: FOR_EVER, ..Default::default() } };
        same::<Dual, Reno, _, _>(seed, 1, sender, dual, reno::Params { base });
    }
}

/// `spec: cho §9`: flows of one scheme in parallel that know nothing of each other are what
/// a scheme without groups is, whatever table it is shown.
#[test]
fn parallel_high_speed_flows_are_mutually_unaware() {
    for seed in seeds() {
        let (mut sender, base) = case(seed);
        let base = Base { limits: Limits { ssthresh: 60.0, ..base.limits }, ..base };
        let engine = || Static::<HighSpeed>(highspeed::Params { base, ..Default::default() });
        let mut together = Flows::new(engine());
        let mut alone: Vec<_> = (0..5).map(|_| Flows::new(engine())).collect();
        for flow in &mut alone {
            together.join(&sender.path());
            flow.join(&sender.path());
        }
        let mut decision = together.decide(0);
        for _ in events(seed) {
            let me = sender.random.below(5) as usize;
            let event = sender.event(&decision);
            together.step(me, &event);
            alone[me].step(0, &event);
            decision = together.decide(me);
            assert_eq!((decision, together.states[me]), (alone[me].decide(0), alone[me].states[0]), "seed {seed}");
        }
    }
}

/// Vegas and a relative get the same events, changed by `blind`, and must decide the same.
fn vegas_and<S>(blind: impl Fn(&mut Event), relative: impl Fn(vegas::Common) -> S::Params)
where
    S: Controller + Debug + 'static,
{
    for seed in seeds() {
        let mut sender = Sender::new(seed, seed % 2 == 0);
        let common = if seed % 3 == 0 { vegas::Common::paper() } else { vegas::Common::default() };
        let common = vegas::Common { path: FOR_EVER, ..common };
        let mut plain = Flows::new(Static::<Vegas>(windlass_controllers::schemes::vegas::Params {
            base: common,
            ..Default::default()
        }));
        let mut other = Flows::new(Static::<S>(relative(common)));
        plain.join(&sender.path());
        other.join(&sender.path());
        let mut decision = plain.decide(0);
        for i in events(seed) {
            let mut event = sender.event(&decision);
            blind(&mut event);
            plain.step(0, &event);
            other.step(0, &event);
            decision = plain.decide(0);
            let theirs = other.decide(0).with_ecn(decision.ecn);
            assert_eq!(theirs, decision, "seed {seed}, event {i}: {event:?}");
        }
    }
}

/// `spec: chan §12` P17: without any loss RedVegas is Vegas, marks or none. With marks that
/// ride on acknowledgements only: a mark of its own is Vegas' congestion (`§7.5`).
#[test]
fn red_vegas_without_loss_is_vegas() {
    let lossless = |event: &mut Event| {
        if matches!(event.kind, EventKind::PacketsLost(_) | EventKind::PersistentCongestion(_) | EventKind::EcnCe(_)) {
            event.kind = EventKind::TimerExpired;
        }
    };
    vegas_and::<RedVegas>(lossless, |base| red_vegas::Params { base, ..Default::default() });
    vegas_and::<RedVegas>(lossless, |base| red_vegas::Params { base, ..Parameters::paper() });
}

/// `spec: chan §12` P16: where every acknowledgement echoes a mark every loss is congestion;
/// and so it is where nothing is known of marks (`§7.5`).
#[test]
fn red_vegas_that_sees_marks_everywhere_or_never_is_vegas() {
    for echo in [Some(true), None] {
        let marked = |event: &mut Event| {
            if let EventKind::PacketsAcked(acked) = &mut event.kind {
                (acked.congestion_indication, acked.newest_pn) = (echo, Some(u64::MAX));
            }
        };
        vegas_and::<RedVegas>(marked, |base| red_vegas::Params { base, ..Default::default() });
    }
}

/// `spec: chan §12` P6: with no queueing reported either way, and so an exact base, the
/// decisions are Vegas'. Every acknowledgement has to bring both a sample and a report.
#[test]
fn rovegas_without_reverse_queueing_is_vegas() {
    for report in [None, Some(Queueing::new(Span::ZERO, Span::ZERO))] {
        let without_congestion = |event: &mut Event| {
            if let EventKind::RttSampled(_) = event.kind {
                event.kind = EventKind::TimerExpired;
            }
            if let EventKind::PacketsAcked(acked) = &mut event.kind {
                acked.rtt = acked.rtt.map(|rtt| quartered(&rtt));
                acked.queueing = report;
            }
        };
        vegas_and::<RoVegas>(without_congestion, |base| rovegas::Params { base, ..Default::default() });
    }
}

/// `spec: chan §12` P6: with all queueing on the way out, and minima that are not forgotten,
/// the decisions are Vegas'. Every acknowledgement has to bring both kinds of sample.
#[test]
fn enhanced_vegas_without_reverse_queueing_is_vegas() {
    let without_congestion = |event: &mut Event| {
        if let EventKind::RttSampled(_) = event.kind {
            event.kind = EventKind::TimerExpired;
        }
        if let EventKind::PacketsAcked(acked) = &mut event.kind {
            let rtt = acked.rtt.map(|rtt| quartered(&rtt).with_ack_delay(Span::ZERO));
            let back = 40_000;
            acked.rtt = rtt.filter(|rtt| rtt.latest.0 > back);
            acked.one_way = acked.rtt.map(|rtt| OneWay::new((rtt.latest.0 - back) as i64, back as i64));
        }
    };
    vegas_and::<EnhancedVegas>(without_congestion, |base| enhanced_vegas::Params {
        base,
        owd_window: 0.0,
        ..Default::default()
    });
    let silent = |event: &mut Event| {
        if let EventKind::PacketsAcked(acked) = &mut event.kind {
            acked.one_way = None;
        }
    };
    vegas_and::<EnhancedVegas>(silent, |base| enhanced_vegas::Params { base, ..Default::default() });
}

/// A detector that never checks and that answers every loss with `k`.
fn held_at(k: u32) -> Detector {
    Detector { k, knee_k: k * k, first: false, ..Detector::start(Time(u64::MAX)) }
}

#[test]
fn an_adaptive_group_held_at_k_is_tcp_p() {
    for seed in seeds() {
        let (mut sender, base) = case(seed);
        let (size, k) = (1 + seed % 5, 1 + (seed / 5 % 7) as u32);
        let mut a = Flows::new(Static::<ATcpP>(a_tcp::Params { base, ..Default::default() }));
        let mut p = Flows::new(Static::<TcpP>(tcp_p::Params { base, k, ..Default::default() }));
        for _ in 0..size {
            a.join(&sender.path());
            p.join(&sender.path());
        }
        let mut decision = p.decide(0);
        for i in events(seed) {
            let me = sender.random.below(size) as usize;
            let event = sender.event(&decision);
            // A timeout sets the weight to 1 and does not ask the detector.
            if k > 1 && matches!(event.kind, EventKind::PersistentCongestion(_)) {
                continue;
            }
            a.shared.detector = Some(held_at(k));
            a.step(me, &event);
            p.step(me, &event);
            for flow in 0..size as usize {
                assert_eq!(
                    a.states[flow].window, p.states[flow].window,
                    "seed {seed}, event {i}, flow {flow}: {event:?}"
                );
            }
            assert_eq!(a.members, p.members, "seed {seed}, event {i}: {event:?}");
            decision = p.decide(me);
        }
    }
}

/// `spec: arumaithurai §2.3`: a loss detector, no estimator and Reno's flow control are
/// Reno, where no marks come: a flow that does not detect them sends no packet that could
/// be marked. With marks detected too, it is Reno on any events.
#[test]
fn a_composition_of_renos_parts_is_reno() {
    for (detect, hears_marks) in [("loss", false), ("loss+ecn", true)] {
        for seed in seeds() {
            let (mut sender, base) = case(seed);
            let mut params = <Compose as Controller>::Params::default();
            params.set("detect", detect).unwrap();
            params.flow = windlass_controllers::schemes::compose::flow::Params::Reno(reno::Params { base });
            let mut composed = Flows::new(Static::<Compose>(params));
            let mut reno = Flows::new(Static::<Reno>(reno::Params { base }));
            composed.join(&sender.path());
            reno.join(&sender.path());
            let mut decision = reno.decide(0);
            for i in events(seed) {
                let event = sender.event(&decision);
                if !hears_marks && matches!(event.kind, EventKind::EcnCe(_)) {
                    continue;
                }
                composed.step(0, &event);
                reno.step(0, &event);
                decision = reno.decide(0);
                let ours = composed.decide(0).with_ecn(Ecn::Unspecified);
                assert_eq!(ours, decision, "{detect}, seed {seed}, event {i}: {event:?}");
            }
        }
    }
}

#[test]
fn reno_is_what_is_composed_by_default() {
    let default = Algorithm::read("compose").unwrap();
    assert_eq!(Algorithm::read("compose:detect=loss,flow=reno,estimate=none"), Ok(default));
    assert_eq!(ConfiguredController::name(&default), "compose");
}
