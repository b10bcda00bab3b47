//! Schemes that are the same scheme under some parameters are so to the bit, over random
//! sequences of plausible and hostile events (`spec: cho §10`).

mod flows;
mod sender;

use std::fmt::Debug;

use flows::Flows;
use sender::Sender;
use windlass_controllers::parts::base::{Base, Growth};
use windlass_controllers::parts::competition::{Detector, Settings};
use windlass_controllers::parts::grouped::State;
use windlass_controllers::schemes::a_tcp::{self, ATcp};
use windlass_controllers::schemes::a_tcp_p::ATcpP;
use windlass_controllers::schemes::aimd::{self, Aimd};
use windlass_controllers::schemes::dca_c::{self, DcaC};
use windlass_controllers::schemes::dca_s::DcaS;
use windlass_controllers::schemes::reno::{self, Reno};
use windlass_controllers::schemes::tcp_k::{self, TcpK};
use windlass_controllers::schemes::tcp_p::{self, TcpP};
use windlass_controllers::{Controller, Fixed, Time, What};

/// Sequences per pair of schemes.
const CASES: u64 = 10_000;
const EVENTS: u64 = 120;

/// Every way windows start, grow and floor.
fn bases() -> [Base; 5] {
    let packets = Base { growth: Growth::Packets, ..Base::default() };
    [Base::default(), Base::cho(), packets, Base::sharma_limited(), Base::arumaithurai()]
}

fn case(seed: u64) -> (Sender, Base) {
    (Sender::new(seed, seed.is_multiple_of(2)), bases()[(seed % 5) as usize])
}

/// Two groups of `size` flows get the same events and must hold the same windows and
/// decide the same; how the schemes' memories compare is no matter.
fn same<A, B, M, N>(seed: u64, size: u64, mut sender: Sender, a: A::Params, b: B::Params)
where
    A: Controller<State = State<M>> + Debug + 'static,
    B: Controller<State = State<N>> + Debug + 'static,
{
    let mut a = Flows::new(Fixed::<A>(a));
    let mut b = Flows::new(Fixed::<B>(b));
    for _ in 0..size {
        a.join(&sender.path());
        b.join(&sender.path());
    }
    let mut decision = a.decide(0);
    for i in 0..EVENTS {
        let me = sender.dice.below(size) as usize;
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
    for seed in 0..CASES {
        let (sender, base) = case(seed);
        let k = tcp_k::Params { base, k: 1, slow_start_cap: 1.0 + (seed % 3) as f64 };
        same::<TcpK, Reno, _, _>(seed, 1, sender, k, reno::Params { base });
    }
}

#[test]
fn aimd_of_one_and_a_half_is_reno() {
    for seed in 0..CASES {
        let (sender, base) = case(seed);
        same::<Aimd, Reno, _, _>(seed, 1, sender, aimd::Params { base, a: 1.0, b: 0.5 }, reno::Params { base });
    }
}

#[test]
fn a_group_of_one_is_tcp_k() {
    for seed in 0..CASES {
        let (sender, base) = case(seed);
        let (k, slow_start_cap) = (1 + (seed / 7 % 6) as u32, if seed.is_multiple_of(3) { f64::INFINITY } else { 1.0 });
        let p = tcp_p::Params { base, k, slow_start_cap, linux_counters: false };
        same::<TcpP, TcpK, _, _>(seed, 1, sender, p, tcp_k::Params { base, k, slow_start_cap });
    }
}

#[test]
fn a_group_as_large_as_its_strength_is_so_many_renos() {
    for seed in 0..CASES {
        let (sender, base) = case(seed);
        let size = 1 + seed % 6;
        let p = tcp_p::Params { base, k: size as u32, ..Default::default() };
        same::<TcpP, Reno, _, _>(seed, size, sender, p, reno::Params { base });
    }
}

#[test]
fn a_tcp_held_at_one_is_reno() {
    for seed in 0..CASES {
        let (sender, base) = case(seed);
        let detector = Settings { k_max: 1, ..Default::default() };
        let a = a_tcp::Params { base, detector, ..Default::default() };
        same::<ATcp, Reno, _, _>(seed, 1, sender, a, reno::Params { base });
    }
}

#[test]
fn an_adaptive_group_of_one_is_a_tcp() {
    for seed in 0..CASES {
        let (sender, base) = case(seed);
        let slow_start_cap = if seed.is_multiple_of(3) { f64::INFINITY } else { 1.0 };
        let freeze_app_limited = seed.is_multiple_of(4);
        // Short waits: every sequence sees many checks.
        let detector = Settings { freeze_app_limited, check_wait: 1.0, loss_wait: 0.5, ..Default::default() };
        let params = a_tcp::Params { base, detector, slow_start_cap };
        same::<ATcpP, ATcp, _, _>(seed, 1, sender, params, params);
    }
}

/// `spec: cho §3.4` D6.
#[test]
fn a_collaborating_group_of_one_yields_like_a_flow_alone() {
    for seed in 0..CASES {
        let (sender, base) = case(seed);
        let params = dca_c::Params { base, gamma: 0.1 * (seed % 10) as f64, ..Default::default() };
        same::<DcaC, DcaS, _, _>(seed, 1, sender, params, params);
    }
}

/// `spec: cho §3.4` D6: no sample is beyond all of its range.
#[test]
fn a_flow_that_never_yields_to_delay_is_reno() {
    for seed in 0..CASES {
        let (sender, base) = case(seed);
        let params = dca_c::Params { base, gamma: 1.0, ..Default::default() };
        same::<DcaS, Reno, _, _>(seed, 1, sender, params, reno::Params { base });
        let (sender, base) = case(seed);
        same::<DcaC, Reno, _, _>(seed, 1 + seed % 6, sender, params, reno::Params { base });
    }
}

/// A detector that never checks and whose verdict on every loss is `k`.
fn held_at(k: u32) -> Detector {
    Detector { k, knee_k: k * k, first: false, ..Detector::open(Time(u64::MAX)) }
}

#[test]
fn an_adaptive_group_held_at_k_is_tcp_p() {
    for seed in 0..CASES {
        let (mut sender, base) = case(seed);
        let (size, k) = (1 + seed % 5, 1 + (seed / 5 % 7) as u32);
        let mut a = Flows::new(Fixed::<ATcpP>(a_tcp::Params { base, ..Default::default() }));
        let mut p = Flows::new(Fixed::<TcpP>(tcp_p::Params { base, k, ..Default::default() }));
        for _ in 0..size {
            a.join(&sender.path());
            p.join(&sender.path());
        }
        let mut decision = p.decide(0);
        for i in 0..EVENTS {
            let me = sender.dice.below(size) as usize;
            let event = sender.event(&decision);
            // A timeout sets the strength to 1 and does not ask the detector.
            if k > 1 && matches!(event.what, What::PersistentCongestion(_)) {
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
