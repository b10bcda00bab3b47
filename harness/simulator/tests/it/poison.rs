//! Whatever a path was like, and however long ago: on a clean one every controller works again
//! (`RFC 9743 §5.2.7`: changes of the path).
//!
//! Random histories of rounds from 1 µs to 10 s with losses, marks, spurious losses, persistent congestion, idle periods and other
//! datagram sizes drive a controller through the common adapter. The simulator's sender takes it over on a clean path, and
//! has to reach a tenth of the capacity, losing less than a tenth of its packets, within 200 round trips or the
//! time documents remember a least delay for. A history after which it does not is shrunk to the shortest.

use std::fmt::Write as _;
use std::sync::Mutex;

use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestError, TestRunner};
use windlass_adapter::rfc9002::RttEstimator;
use windlass_controllers::{
    Algorithm, ConfiguredController, Decision, Event, EventKind, Info, Path, Signals, Span, Table, Time, View,
};
use windlass_literal::{Action, CLOCK_OFFSET, History, Past, Round, live, poisons};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::Simulation;

use crate::common::{each, scenario};

/// Actions of a history at most.
const ACTIONS: usize = 40;

/// Round trips of the verdict.
const ROUNDS: u64 = 200;

/// Round trips of an interval that is measured. The first half of [`ROUNDS`] is what the history left of a window.
const INTERVAL_ROUNDS: u64 = 20;

/// As long as this a least delay may be remembered, and more than one such period until it is believed no longer
/// (`base_window`; `spec: chan §5.4`; `Copa (NSDI 2018) §2.1`; `draft-ietf-ccwg-bbr-06 §2.11`).
const REMEMBERED: Span = Span::from_millis(60_000);

/// Share of the capacity that is enough, and of packets that are too many to lose beyond what is lost without a past.
const TENTH: f64 = 0.1;

/// A controller whose page says that it remembers for longer.
struct KnownLimit {
    controller: &'static str,
    until: Span,
    /// With these parameters until then.
    mended: (&'static str, Span),
    /// The shortest history that shows it and on which of [`PATHS`], where a search for one takes minutes.
    history: Option<(usize, fn() -> History)>,
}

const KNOWN_LIMITS: [KnownLimit; 3] = [
    // The least delay of ten minutes, or of three (RFC 6817 §2.4.2).
    KnownLimit {
        controller: "ledbat",
        until: Span::from_millis(720_000),
        mended: ("base_history=3", Span::from_millis(300_000)),
        history: None,
    },
    // Two packets in 96 round trips (spec: arumaithurai §6.3).
    KnownLimit {
        controller: "nice",
        until: Span::from_millis(1_800_000),
        mended: ("most_rounds=2", REMEMBERED),
        history: None,
    },
    // Trains at a packet per round trip, of which the first RTT sample was seconds (spec: arumaithurai §5.6 rule 1).
    KnownLimit {
        controller: "rapid",
        until: Span::from_millis(300_000),
        mended: ("start_at_rtt=off", REMEMBERED),
        history: Some((2, || history(0, 0, &[round(5_517_416, 1, 0)]))),
    },
];

/// How long `controller` may remember.
fn remembered(controller: &str) -> Span {
    KNOWN_LIMITS.iter().find(|limit| limit.controller == controller).map_or(REMEMBERED, |limit| limit.until)
}

/// Clean paths, each of some fifty packets and as many in its queue: Mbit/s, ms.
const PATHS: [(f64, f64); 3] = [(10.0, 50.0), (1.0, 500.0), (100.0, 5.0)];

/// A controller whose start is behind it.
#[derive(Clone, Debug)]
struct Poisoned {
    algorithm: Algorithm,
    past: Option<Remains>,
}

/// What the sender of a [`Past`] goes on with.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Remains {
    state: <Algorithm as ConfiguredController>::State,
    delivered: u64,
    next_pn: u64,
    rtt: RttEstimator,
}

impl Poisoned {
    fn new(algorithm: Algorithm, past: Option<&Past>) -> Poisoned {
        let remains = |past: &Past| Remains {
            state: *past.flow.state(),
            delivered: past.delivered,
            next_pn: past.next_pn,
            rtt: past.rtt,
        };
        Poisoned { algorithm, past: past.map(remains) }
    }

    /// The event as the sender of the past tells it, which numbers and measures on.
    fn continued(past: &Remains, rtt: &mut RttEstimator, event: &Event) -> Event {
        let mut event = *event;
        match &mut event.kind {
            EventKind::PacketsAcked(acked) => {
                acked.delivered += past.delivered;
                if let Some(delivery) = &mut acked.delivery {
                    delivery.delivered += past.delivered;
                }
                acked.newest_pn = acked.newest_pn.map(|pn| pn + past.next_pn);
                acked.rtt = acked.rtt.map(|sample| rtt.sample(event.now, sample.latest, sample.ack_delay));
            }
            EventKind::RttSampled(sample) => *sample = rtt.sample(event.now, sample.latest, sample.ack_delay),
            EventKind::PacketsLost(lost) => lost.newest_pn = lost.newest_pn.map(|pn| pn + past.next_pn),
            EventKind::PersistentCongestion(lost) => {
                lost.newest_pn = lost.newest_pn.map(|pn| pn + past.next_pn);
                rtt.restart_min();
            }
            EventKind::EcnCe(marked) => marked.newest_pn = marked.newest_pn.map(|pn| pn + past.next_pn),
            EventKind::PacketSent(sent) => sent.pn = sent.pn.map(|pn| pn + past.next_pn),
            _ => {}
        }
        event
    }
}

impl ConfiguredController for Poisoned {
    type State = (<Algorithm as ConfiguredController>::State, RttEstimator);
    type Group = <Algorithm as ConfiguredController>::Group;

    fn info(&self) -> Info {
        self.algorithm.info()
    }
    fn needs(&self) -> Signals {
        self.algorithm.needs()
    }
    fn wants_packet_sent(&self) -> bool {
        self.algorithm.wants_packet_sent()
    }
    fn group(&self) -> Self::Group {
        self.algorithm.group()
    }
    fn start(&self, path: &Path) -> Self::State {
        let begun = || (self.algorithm.start(path), RttEstimator::new());
        self.past.map_or_else(begun, |past| (past.state, past.rtt))
    }
    fn step(&self, (state, rtt): &mut Self::State, group: Table<'_, Self::Group>, event: &Event) {
        match &self.past {
            Some(past) => self.algorithm.step(state, group, &Poisoned::continued(past, rtt, event)),
            None => self.algorithm.step(state, group, event),
        }
    }
    fn decide(&self, state: &Self::State, group: View<'_, Self::Group>) -> Decision {
        self.algorithm.decide(&state.0, group)
    }
    fn inspect(&self, state: &Self::State, group: View<'_, Self::Group>, visit: &mut dyn FnMut(&'static str, f64)) {
        self.algorithm.inspect(&state.0, group, visit);
    }
}

/// A controller works.
struct Recovered {
    after: Span,
    /// Share of its packets that it loses.
    lost: f64,
}

/// A clean path.
struct Clean {
    scenario: Scenario,
    rtt: Span,
    /// Bytes in a second.
    capacity: f64,
}

impl Clean {
    fn new((rate, rtt): (f64, f64)) -> Clean {
        let text = format!(
            "duration_s = 1e6\nsample_ms = 1e8\n[dumbbell]\nrate_mbps = {rate}\nrtt_ms = {rtt}\nbuffer_bdp = 1\n\
             [[flow]]\ncontroller = \"under-test\"\n"
        );
        let mut scenario = scenario(&text, "reno");
        scenario.flows[0].clock_offset = CLOCK_OFFSET;
        Clean { scenario, rtt: Span::from_secs_f64(rtt / 1e3), capacity: rate * 1e6 / 8.0 }
    }

    /// How `algorithm` comes to work here within `remembered`, after `past` or from its start; what is wrong if it does not.
    fn recovers(
        &self,
        algorithm: Algorithm,
        past: Option<&Past>,
        remembered: Span,
        bearable: f64,
    ) -> Result<Recovered, String> {
        let mut scenario = self.scenario.clone();
        let start = past.map_or(Time(1_000_000), |past| past.now);
        scenario.flows[0].start = start;
        let engine = Poisoned::new(algorithm, past);
        let mut simulation = Simulation::with(&scenario, |_| engine.clone()).expect("a dumbbell");
        let rounds = |count: u64| Span(self.rtt.0 * count);
        let (look, end) = (rounds(INTERVAL_ROUNDS), rounds(ROUNDS).max(remembered));
        let mut over = rounds(ROUNDS / 2);
        simulation.run_until(start + over);
        loop {
            let before = simulation.counts(0);
            over = over + look;
            simulation.run_until(start + over);
            let after = simulation.counts(0);
            let used = (after.goodput_bytes - before.goodput_bytes) as f64 / look.secs() / self.capacity;
            let lost = (after.lost - before.lost) as f64 / ((after.sent - before.sent) as f64).max(1.0);
            if used >= TENTH && lost <= bearable {
                return Ok(Recovered { after: over, lost });
            }
            if over >= end {
                let mut seen = format!("uses {used:.4} and loses {lost:.4}:");
                simulation.inspect(0, &mut |name, value| {
                    let _ = write!(seen, " {name}={value:.4}");
                });
                return Err(seen);
            }
        }
    }
}

/// The shortest history of a kind that was found, and is mended.
struct Found {
    controllers: &'static [&'static str],
    /// Of [`PATHS`].
    path: usize,
    history: fn() -> History,
    /// With these parameters it is not, where a parameter takes the remedy away.
    without: Option<&'static str>,
}

/// A round in which all in flight comes back in acknowledgements of `stretch` packets, of which `marked` report marks.
fn round(rtt_us: u32, stretch: u8, marked: u8) -> Action {
    let (lost, sends) = ((0, 0, 1), 64);
    Action::Round(Round { rtt_us, ack_delay_us: 0, stretch, lost, marked, swapped: false, sends })
}

/// A sender that always has data, and what happens to it.
fn history(service_us: u16, gap_us: u16, rounds: &[Action]) -> History {
    let mut actions = vec![Action::Send { packets: u16::MAX, gap_us, short: false }];
    actions.extend_from_slice(rounds);
    History { mtu: 1200, service_us, actions }
}

const FOUND: [Found; 3] = [
    // One round trip of a microsecond was the least delay for ever.
    Found {
        controllers: &["vegas", "quick-vegas", "rovegas", "red-vegas", "tri-s", "nice"],
        path: 0,
        history: || history(0, 0, &[round(1, 1, 0)]),
        without: Some("base_window=0"),
    },
    // Two packets every 96 round trips: silences longer than base_window began its time anew.
    Found {
        controllers: &["nice"],
        path: 1,
        history: || {
            let first = [round(1, 2, 1), round(50_000, 1, 0), round(136_912, 4, 0), round(2, 1, 0), round(2, 1, 0)];
            history(0, 1150, &[&first[..], &[round(5_263_158, 1, 0), round(1, 1, 0)]].concat())
        },
        without: None,
    },
    // Two packets and a sixteenth are two packets, of which a push shows nothing.
    Found {
        controllers: &["c4"],
        path: 0,
        history: || History {
            mtu: 1200,
            service_us: 0,
            actions: vec![Action::Persistent { packets: 4, gap_ms: 10, halved: false }],
        },
        without: Some("least_push=0"),
    },
];

/// Histories of each controller: `WINDLASS_POISON_HISTORIES`, or as many as take some seconds.
fn how_many() -> u32 {
    let default = if cfg!(debug_assertions) { 5 } else { 60 };
    std::env::var("WINDLASS_POISON_HISTORIES").map_or(default, |text| text.parse().expect("a number of histories"))
}

/// The shortest history found after which the controller `text` does not work, and on which path; or how long it took at
/// most, beyond 200 round trips.
fn search(text: &str, remembered: Span, histories: u32) -> Result<Option<Span>, String> {
    let algorithm = Algorithm::read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    // What it loses from its start its past is not to blame for.
    let clean: Vec<(Clean, f64)> = PATHS
        .into_iter()
        .map(|path| {
            let clean = Clean::new(path);
            let unpoisoned = clean.recovers(algorithm, None, remembered, 1.0);
            let lost = unpoisoned.unwrap_or_else(|why| panic!("{text} at {path:?} without a past: {why}")).lost;
            (clean, lost + TENTH)
        })
        .collect();
    let mut runner = TestRunner::new(Config {
        cases: histories,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::XorShift,
        rng_seed: RngSeed::Fixed(40),
        max_shrink_iters: 3000,
        ..Config::default()
    });
    let longest = Mutex::new(None);
    let outcome = runner.run(&(0..clean.len(), poisons(ACTIONS)), |(path, history)| {
        let (clean, bearable) = &clean[path];
        let past = live(algorithm, &history);
        let recovered = clean.recovers(algorithm, Some(&past), remembered, *bearable).map_err(TestCaseError::fail)?;
        let mut longest = longest.lock().expect("no other thread");
        *longest = (*longest).max(Some(recovered.after).filter(|after| after.0 > ROUNDS * clean.rtt.0));
        Ok(())
    });
    match outcome {
        Ok(()) => Ok(longest.into_inner().expect("no other thread")),
        Err(TestError::Fail(why, (path, history))) => {
            let (rate, rtt) = (clean[path].0.capacity * 8e-6, clean[path].0.rtt.millis());
            Err(format!("{text} at {rate} Mbit/s, {rtt} ms: {why}\n  after {history:?}"))
        }
        Err(error) => panic!("{text}: {error}"),
    }
}

/// What docs/poison.md has below its marker.
fn table(names: &[&str], found: &[Option<Span>]) -> String {
    let mut table = String::from(
        "\n| controller | histories | found and mended | known limits | until it works again |\n|---|---|---|---|---|\n",
    );
    for (name, longest) in names.iter().zip(found) {
        let mended = FOUND.iter().filter(|found| found.controllers.contains(name)).count();
        let known = KNOWN_LIMITS.iter().filter(|limit| limit.controller == *name).count();
        let until = longest.map_or(format!("{ROUNDS} round trips"), |longest| format!("{:.0} s", longest.secs()));
        let _ = writeln!(table, "| {name} | {} | {mended} | {known} | {until} |", how_many());
    }
    table
}

#[test]
fn no_history_decides_what_a_clean_path_carries() {
    let only = std::env::var("WINDLASS_POISON_CONTROLLER").ok();
    let names: Vec<&str> = Algorithm::ALL.iter().map(|entry| entry.name).collect();
    let chosen: Vec<&str> =
        names.iter().copied().filter(|name| only.as_ref().is_none_or(|only| only == name)).collect();
    let (found, wrong): (Vec<_>, Vec<_>) =
        each(&chosen, |name| search(name, remembered(name), how_many())).into_iter().partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{} controllers:\n{}", wrong.len(), wrong.join("\n"));
    const MARKER: &str = "<!-- below: WINDLASS_ACCEPT_POISON=1 WINDLASS_POISON_HISTORIES=10000 cargo test --release -p windlass-simulator --test it poison -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/poison.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (prose, rest) = page.split_once(MARKER).expect("the marker");
    if std::env::var_os("WINDLASS_ACCEPT_POISON").is_some() {
        let found: Vec<_> = found.into_iter().filter_map(Result::ok).collect();
        std::fs::write(path, format!("{prose}{MARKER}{}", table(&chosen, &found))).expect("the page");
        return;
    }
    let rows = rest.lines().skip(3).filter_map(|row| row.split(" | ").next()?.strip_prefix("| "));
    assert_eq!(rows.collect::<Vec<_>>(), names, "the command of docs/poison.md writes its table anew");
}

#[test]
fn what_was_found_is_mended() {
    let mut wrong = String::new();
    for found in &FOUND {
        let clean = Clean::new(PATHS[found.path]);
        let recovers = |text: &str, remembered: Span| {
            let algorithm = Algorithm::read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            clean.recovers(algorithm, Some(&live(algorithm, &(found.history)())), remembered, TENTH)
        };
        for name in found.controllers {
            if let Err(why) = recovers(name, remembered(name)) {
                let _ = writeln!(wrong, "{name}: {why}");
            }
            let without = found.without.map(|parameters| format!("{name}:{parameters}"));
            if without.as_ref().is_some_and(|text| recovers(text, REMEMBERED).is_ok()) {
                let _ = writeln!(wrong, "{name} does not need its remedy");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A row without which nothing is found is no longer one, and what its page advises helps.
#[test]
fn what_pages_tell_is_so() {
    let histories = how_many().min(200);
    let checked = each(&KNOWN_LIMITS, |limit| {
        let (parameters, until) = limit.mended;
        let mended = format!("{}:{parameters}", limit.controller);
        let Some((path, history)) = limit.history else {
            return (search(limit.controller, REMEMBERED, 2000), search(&mended, until, histories));
        };
        let recovers = |text: &str, until| {
            let algorithm = Algorithm::read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let past = live(algorithm, &history());
            Clean::new(PATHS[path])
                .recovers(algorithm, Some(&past), until, TENTH)
                .map(|recovered| Some(recovered.after))
        };
        (recovers(limit.controller, REMEMBERED), recovers(&mended, until))
    });
    for (limit, (found, mended)) in KNOWN_LIMITS.iter().zip(checked) {
        assert!(found.is_err(), "take {} out", limit.controller);
        assert!(mended.is_ok(), "{mended:?}");
    }
}

/// A least delay believed for ever is found: what the search sees is `base_window`'s doing.
#[test]
fn a_base_delay_that_never_rises_is_found() {
    for controller in ["vegas", "tri-s", "ledbat++", "nice"] {
        let found = search(&format!("{controller}:base_window=0"), REMEMBERED, 100);
        assert!(found.is_err_and(|why| why.contains("base_")), "{controller}");
    }
}
