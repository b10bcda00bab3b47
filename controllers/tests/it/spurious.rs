//! What a spurious loss takes back: the response to those losses, and never one to a mark.

use crate::sender::Sender;
use crate::shared::Flows;
use windlass_controllers::event::{EcnCe, PacketsAcked, PacketsLost, RttSample, SpuriousLoss};
use windlass_controllers::{Algorithm, Event, EventKind, Path, Span, Time};

const MS: u64 = 1_000_000;
const MTU: u64 = 1200;

/// One flow with the events of a sender on a path of 100 ms.
struct OneFlow {
    flows: Flows<Algorithm>,
    delivered: u64,
}

impl OneFlow {
    fn new(name: &str) -> OneFlow {
        let mut flows = Flows::new(Algorithm::named(name).unwrap());
        flows.join(&Path::new(Time::ZERO, MTU as u32, 1));
        let mut flow = OneFlow { flows, delivered: 0 };
        for round in 1..=3 {
            flow.acked(round * 100);
        }
        flow
    }

    fn cwnd(&self) -> u64 {
        self.flows.decide(0).cwnd
    }

    /// `kind` happened `ms` milliseconds after the start; the window then, bytes.
    fn event(&mut self, ms: u64, kind: EventKind) -> u64 {
        self.flows.step(0, &Event::new(Time(ms * MS), kind));
        self.cwnd()
    }

    /// A window of packets that left 100 ms ago is acknowledged.
    fn acked(&mut self, ms: u64) -> u64 {
        let bytes = self.cwnd();
        self.delivered += bytes;
        let rtt = Span(100 * MS);
        let acked = PacketsAcked::new(bytes, (bytes / MTU) as u32, sent_before(ms), 0, self.delivered)
            .with_rtt(Some(RttSample::new(rtt, rtt, Span(MS), rtt)));
        self.event(ms, EventKind::PacketsAcked(acked))
    }

    fn marked(&mut self, ms: u64) -> u64 {
        let in_flight = self.cwnd();
        self.event(ms, EventKind::EcnCe(EcnCe::new(1, sent_before(ms), in_flight)))
    }

    fn lost(&mut self, ms: u64) -> u64 {
        let in_flight = self.cwnd();
        self.event(ms, EventKind::PacketsLost(PacketsLost::new(MTU, 1, sent_before(ms), in_flight)))
    }

    /// The losses found at `found` milliseconds were spurious.
    fn spurious(&mut self, ms: u64, found: u64) -> u64 {
        self.event(ms, EventKind::SpuriousLoss(SpuriousLoss::new(sent_before(found))))
    }
}

/// What is acknowledged, marked or found lost `ms` milliseconds after the start left 100 ms earlier.
fn sent_before(ms: u64) -> Time {
    Time((ms - 100) * MS)
}

/// Loss-based schemes, one with delay, one with a model.
const LOSS_BASED: [&str; 12] = [
    "reno",
    "cubic",
    "cubic-2005",
    "bic",
    "h-tcp",
    "highspeed",
    "scalable",
    "ctcp",
    "westwood",
    "vegas",
    "tcp-k",
    "aimd",
];

#[test]
fn a_response_to_a_loss_is_taken_back() {
    for name in LOSS_BASED {
        let mut flow = OneFlow::new(name);
        let before = flow.cwnd();
        assert!(flow.lost(400) < before, "{name}");
        assert_eq!(flow.spurious(450, 400), before, "{name}");
    }
}

/// RFC 3168 §6.1.2: a mark is answered like a loss; unlike it, it was certainly there.
#[test]
fn a_response_to_a_mark_is_final() {
    for name in LOSS_BASED {
        let mut flow = OneFlow::new(name);
        let after = flow.marked(400);
        assert_eq!(flow.spurious(450, 400), after, "{name}");
    }
}

#[test]
fn a_mark_after_a_loss_makes_its_own_response_final_and_the_losss() {
    for name in LOSS_BASED {
        let mut flow = OneFlow::new(name);
        flow.lost(400);
        flow.acked(550);
        let after = flow.marked(600);
        assert_eq!(flow.spurious(650, 400), after, "{name}");
    }
}

#[test]
fn a_mark_in_the_frame_of_a_loss_makes_the_response_final() {
    for name in LOSS_BASED {
        let mut flow = OneFlow::new(name);
        flow.marked(400);
        let after = flow.lost(400);
        assert_eq!(flow.spurious(450, 400), after, "{name}");
        let mut flow = OneFlow::new(name);
        flow.lost(400);
        let after = flow.marked(400);
        assert_eq!(flow.spurious(450, 400), after, "{name}: the other way round");
    }
}

#[test]
fn the_losses_of_an_earlier_response_do_not_take_back_a_later_one() {
    for name in LOSS_BASED {
        let mut flow = OneFlow::new(name);
        flow.lost(400);
        let before = flow.acked(550);
        let after = flow.lost(600);
        assert!(after < before, "{name}");
        assert_eq!(flow.spurious(640, 400), after, "{name}");
        assert_eq!(flow.spurious(650, 600), before, "{name}: the later one still can be");
    }
}

/// Whatever came before, of every controller.
#[test]
fn no_controller_raises_its_window_for_a_spurious_loss_after_a_mark() {
    let steps = if cfg!(debug_assertions) { 5_000 } else { 100_000 };
    for entry in Algorithm::ALL {
        let algorithm = Algorithm::named(entry.name).unwrap();
        let (mut seen, mut seed) = (0, 0);
        while seen < 20 {
            seed += 1;
            let mut sender = Sender::new(seed, false);
            let mut flows = Flows::new(algorithm);
            flows.join(&sender.path());
            let mut marked = false;
            for _ in 0..steps {
                let before = flows.decide(0);
                let event = sender.event(&before);
                flows.step(0, &event);
                match event.kind {
                    EventKind::EcnCe(_) => marked = true,
                    EventKind::PacketsLost(_) | EventKind::PersistentCongestion(_) => marked = false,
                    EventKind::SpuriousLoss(_) if marked => {
                        seen += 1;
                        let after = flows.decide(0);
                        assert!(after.cwnd <= before.cwnd, "{}, seed {seed}: {before:?}, {after:?}", entry.name);
                        let (rate, faster) = (before.pacing_rate, after.pacing_rate);
                        assert!(faster <= rate, "{}, seed {seed}: paces {rate:?}, then {faster:?}", entry.name);
                    }
                    _ => {}
                }
            }
        }
    }
}
