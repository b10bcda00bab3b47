use super::*;
use crate::{
    BatchSpec, BucketSpec, BurstLoss, CoDelSpec, DualPi2Spec, FqCoDelSpec, Jitter, Limit, LinkSpec, PcnSpec, PieSpec,
    Queue, Service, Set, StepSpec, Trace,
};
use proptest::prelude::*;
use windlass_controllers::Span;

fn queue() -> impl Strategy<Value = Queue> {
    let codel = CoDelSpec { target: Span::from_micros(20), interval: Span::from_micros(300), ..CoDelSpec::new(1500) };
    prop_oneof![
        Just(Queue::DropTail),
        Just(Queue::CoDel(codel)),
        Just(Queue::FqCoDel(FqCoDelSpec { codel, queues: 2, ..FqCoDelSpec::new(1500) })),
        Just(Queue::Step(StepSpec { sojourn: Some(Span::from_micros(50)), ..StepSpec::default() })),
        Just(Queue::Pcn(PcnSpec::new(1e6, 2e6))),
        Just(Queue::Pie(PieSpec {
            update: Span::from_micros(100),
            target: Span::from_micros(50),
            ..PieSpec::new(1500)
        })),
        Just(Queue::DualPi2(DualPi2Spec { target: Span::from_micros(50), ..DualPi2Spec::new() })),
        Just(Queue::Drr { quantum: 700, queues: 2 }),
        Just(Queue::Policer(BucketSpec { rate: 1e6, depth: 3000.0 })),
    ]
}

fn service() -> impl Strategy<Value = Service> {
    prop_oneof![
        3 => Just(Service::Steady),
        1 => Just(Service::Trace(Trace::parse("1\n1\n4\n6\n").unwrap())),
        1 => Just(Service::Batches(BatchSpec { every: Span::from_micros(700), jitter: Span::from_micros(300), packets: 3 })),
        1 => Just(Service::Shaper { burst: 3000.0, peak: 2e8 }),
    ]
}

fn spec() -> impl Strategy<Value = LinkSpec> {
    let change = (0u64..50_000, proptest::option::of(1e5..1e8), proptest::option::of(0u64..5000), 0.0..0.3);
    (
        (
            prop_oneof![Just(f64::INFINITY), 1e6..1e8],
            0u64..5000,
            prop_oneof![Just(0.0), 0.0..0.5],
            proptest::option::of(0.01f64..1.0),
        ),
        (prop_oneof![Just(0), 0u64..3000], any::<bool>()),
        prop_oneof![Just(Limit::Unlimited), (0u64..20).prop_map(Limit::Packets), (0u64..20_000).prop_map(Limit::Bytes)],
        proptest::collection::vec(change, 0..3),
        (queue(), service()),
    )
        .prop_map(|((rate, delay, loss, burst), (jitter, reorders), limit, mut changes, (queue, service))| {
            changes.sort_by_key(|change| change.0);
            // Without a rate there is nothing to shape.
            let service =
                if rate.is_infinite() && matches!(service, Service::Shaper { .. }) { Service::Steady } else { service };
            if service != Service::Steady {
                changes.iter_mut().for_each(|change| change.1 = None);
            }
            LinkSpec {
                service,
                burst_loss: burst.map(|to_bad| BurstLoss { to_bad, to_good: 0.5, good: 0.0, bad: 0.7 }),
                loss,
                jitter: Jitter { max: Span::from_micros(jitter), reorders },
                limit,
                queue,
                changes: changes
                    .into_iter()
                    .map(|(at, rate, delay, loss)| Change {
                        at: Time::from_micros(at),
                        set: Set { rate, delay: delay.map(Span::from_micros), loss: Some(loss), jitter: None },
                    })
                    .collect(),
                ..LinkSpec::new("", rate, Span::from_micros(delay))
            }
        })
}

fn topology() -> impl Strategy<Value = Topology> {
    proptest::collection::vec(spec(), 1..5).prop_flat_map(|mut links| {
        for (i, link) in links.iter_mut().enumerate() {
            link.name = format!("link{i}");
        }
        let route = proptest::collection::vec((0..links.len() as u32).prop_map(LinkId), 0..4);
        proptest::collection::vec(route, 1..4).prop_map(move |routes| Topology {
            links: links.clone(),
            routes,
            traffic: Vec::new(),
        })
    })
}

fn run(topology: &Topology, sends: &[(u64, u32, u32)], seed: u64) -> Vec<Delivery> {
    let mut network = Network::new(topology, seed).unwrap();
    network.report_losses(true);
    let mut out = Vec::new();
    let mut last = Time::ZERO;
    let mut step = |network: &mut Network, until: Time| {
        while let Some(at) = network.next().filter(|at| *at <= until) {
            while let Some(delivery) = network.poll(at) {
                assert!(delivery.at >= last, "time goes forward");
                last = delivery.at;
                out.push(delivery);
            }
            assert_eq!(network.sent(), network.delivered() + network.gone() + network.holds());
        }
    };
    let mut now = Time::ZERO;
    for (id, (gap, route, bytes)) in (0u64..).zip(sends) {
        now += Span::from_micros(*gap);
        step(&mut network, now);
        network.send(now, RouteId(route % topology.routes.len() as u32), Packet::new(*route, id, *bytes));
        assert_eq!(network.sent(), network.delivered() + network.gone() + network.holds());
    }
    step(&mut network, Time(u64::MAX - 1));
    assert_eq!(network.next(), None);
    assert_eq!(network.holds(), 0, "everything comes to an end");
    out
}

proptest! {
    #[test]
    fn nothing_is_made_or_lost_and_equal_runs_are_equal(
        topology in topology(),
        sends in proptest::collection::vec((0u64..2000, 0u32..8, 40u32..1500), 0..150),
        seed in 0u64..4,
    ) {
        let out = run(&topology, &sends, seed);
        let mut ids: Vec<u64> = out.iter().map(|delivery| delivery.packet.id).collect();
        ids.sort_unstable();
        prop_assert!(ids.iter().copied().eq(0..sends.len() as u64), "every packet comes to exactly one end");
        prop_assert_eq!(out, run(&topology, &sends, seed));
    }

    #[test]
    fn routes_over_fifo_links_keep_order(
        mut topology in topology(),
        sends in proptest::collection::vec((0u64..2000, Just(0u32), 40u32..1500), 0..150),
    ) {
        for link in &mut topology.links {
            link.jitter.reorders = false;
        }
        let out = run(&topology, &sends, 1);
        let ids = out.iter().filter(|delivery| delivery.fate == Fate::Delivered).map(|delivery| delivery.packet.id);
        prop_assert!(ids.is_sorted());
    }
}

#[test]
fn the_fate_names_the_place() {
    let mut topology = Topology::default();
    let clean = topology.link(LinkSpec::pipe("clean", Span::from_millis(1)));
    let broken = topology.link(LinkSpec { loss: 1.0, ..LinkSpec::pipe("broken", Span::from_millis(1)) });
    let tight = topology.link(LinkSpec::new("tight", 1e6, Span::ZERO).with_limit(Limit::Packets(0)));
    let lossy = topology.route(vec![clean, broken]);
    let narrow = topology.route(vec![clean, tight]);
    let mut network = Network::new(&topology, 1).unwrap();
    network.report_losses(true);
    for (id, route) in [(0, lossy), (1, narrow), (2, narrow)] {
        network.send(Time::ZERO, route, Packet::new(0, id, 1000));
    }
    let mut seen: Vec<_> = std::iter::from_fn(|| network.poll(Time(u64::MAX - 1))).collect();
    seen.sort_by_key(|delivery| delivery.packet.id);
    let fates: Vec<_> = seen.iter().map(|delivery| (delivery.fate, delivery.route)).collect();
    assert_eq!(fates, [(Fate::Lost(broken), lossy), (Fate::Delivered, narrow), (Fate::Dropped(tight), narrow)]);
    assert_eq!(network.link("tight"), Some(tight));
    assert_eq!(network.name(tight), "tight");
}

#[test]
fn an_inconsistent_topology_is_refused() {
    let mut topology = Topology::default();
    let link = topology.link(LinkSpec::new("a", 1e6, Span::ZERO));
    topology.route(vec![link, LinkId(7)]);
    let error = |topology: &Topology| Network::new(topology, 1).err().unwrap().to_string();
    assert_eq!(error(&topology), "a route leads over link number 7, but there are only 1");
    topology.links[0].rate = f64::NAN;
    assert_eq!(error(&topology), "link \"a\": rate is NaN; expected at least 1 bit/s");
    topology.links[0].rate = 1e6;
    topology.link(LinkSpec::new("a", 1e6, Span::ZERO));
    assert_eq!(error(&topology), "two links are called \"a\"; names must be unique");
}

#[test]
fn random_loss_has_its_rate_and_its_own_stream() {
    let mut topology = Topology::default();
    let link = topology.link(LinkSpec { loss: 0.01, ..LinkSpec::pipe("lossy", Span::ZERO) });
    let route = topology.route(vec![link]);
    let lost = |topology: &Topology, seed: u64| {
        let mut network = Network::new(topology, seed).unwrap();
        let mut arrived = Vec::new();
        for id in 0..100_000 {
            network.send(Time(id), route, Packet::new(0, id, 100));
            arrived.extend(network.poll(Time(id)).map(|delivery| delivery.packet.id));
        }
        assert_eq!(network.stats(link, Time(100_000)).lost, 100_000 - arrived.len() as u64);
        arrived
    };
    let first = lost(&topology, 1);
    assert!((98_900..=99_100).contains(&first.len()), "{}", first.len());
    assert_ne!(first, lost(&topology, 2));
    topology.links.insert(1, LinkSpec { loss: 0.5, ..LinkSpec::pipe("other", Span::ZERO) });
    assert_eq!(first, lost(&topology, 1), "another link changes nothing");
}
