//! A path whose controller may panic.

use std::io::Write;
use std::sync::Arc;

use windlass_abi::{self as abi, Decision};
use windlass_adapter::{Guarded, Panicked};

use crate::path::PathEvents;

/// A path until its controller panics. Then the flow ends, and MsQuic's CUBIC takes over.
pub(crate) struct GuardedPath {
    path: Guarded<Box<dyn PathEvents>>,
    controller: Arc<str>,
}

impl GuardedPath {
    /// Guards `path`. `controller` is its name as the user types it.
    pub(crate) fn new(path: Box<dyn PathEvents>, controller: Arc<str>) -> Self {
        GuardedPath { path: Guarded::new(path), controller }
    }

    /// The controller's name as the user types it.
    pub(crate) fn controller(&self) -> &str {
        &self.controller
    }

    /// Passes an event to the path and updates `decision`.
    pub(crate) fn update(&mut self, decision: &mut Decision, event: impl FnOnce(&mut dyn PathEvents)) {
        let updated = self.path.call_mut(|path| {
            event(path.as_mut());
            let fell_back = path.fall_back();
            (path.decision(), fell_back)
        });
        match updated {
            Ok((decided, fell_back)) => {
                *decision = decided;
                if let Some(fell_back) = fell_back {
                    warn(&fell_back.line);
                    if let Some(controller) = fell_back.controller {
                        self.controller = controller.into();
                    }
                }
            }
            Err(panicked) => self.ended(decision, panicked),
        }
    }

    /// Passes the RTT sample of an ACK frame to the path. The decision after its acknowledgements shows whether the flow ended.
    pub(crate) fn on_rtt(&mut self, now_ns: u64, rtt: &abi::Rtt) {
        if self.path.call_mut(|path| path.on_rtt(now_ns, rtt)) == Err(Panicked::Now) {
            self.warn();
        }
    }

    /// Passes a sent packet to the path. `decision` is updated only if the flow got an event.
    pub(crate) fn on_sent(&mut self, decision: &mut Decision, sent: &abi::Sent) {
        match self.path.call_mut(|path| path.on_sent(sent).then(|| path.decision())) {
            Ok(Some(decided)) => *decision = decided,
            Ok(None) => {}
            Err(panicked) => self.ended(decision, panicked),
        }
    }

    #[cold]
    fn ended(&mut self, decision: &mut Decision, panicked: Panicked) {
        decision.flags = abi::decision::ENDED;
        if panicked == Panicked::Now {
            self.warn();
        }
    }

    #[cold]
    fn warn(&self) {
        warn(&format!("{} panicked; MsQuic's CUBIC takes over its connection", self.controller));
    }
}

/// Writes a line to standard error, without control characters; errors are ignored.
pub(crate) fn warn(line: &str) {
    let _ = std::io::stderr().write_all(prefixed(line).as_bytes());
}

/// Each line of `text`, with whose it is before it.
fn prefixed(text: &str) -> String {
    text.lines().map(|line| format!("windlass: {}\n", printable(line))).collect()
}

fn printable(line: &str) -> String {
    line.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_a_line_that_says_whose_it_is() {
        assert_eq!(prefixed("a:1:1: x\nb:2:1: \u{1b}y"), "windlass: a:1:1: x\nwindlass: b:2:1: ?y\n");
    }

    struct Fragile;

    impl PathEvents for Fragile {
        fn on_sent(&mut self, _: &abi::Sent) -> bool {
            true
        }
        fn on_rtt(&mut self, _: u64, _: &abi::Rtt) {
            panic!("on purpose");
        }
        fn on_acked(&mut self, _: &abi::Acked, _: &[abi::Packet]) {
            panic!("on purpose");
        }
        fn on_ecn_ce(&mut self, _: u64, _: u32, _: (u64, u64), _: u64) {}
        fn on_lost(&mut self, _: &abi::Lost, _: &[abi::Packet]) {}
        fn on_spurious_loss(&mut self, _: u64, _: u64) {}
        fn on_discarded(&mut self, _: u64, _: u64) {}
        fn on_mtu(&mut self, _: u64, _: u32) {}
        fn fall_back(&mut self) -> Option<windlass_adapter::FellBack> {
            None
        }
        fn decision(&self) -> Decision {
            Decision { cwnd: 7000, ..Decision::default() }
        }
    }

    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("here too");
        }
    }

    #[test]
    fn after_a_panic_the_flow_ends() {
        let mut guarded = GuardedPath::new(Box::new(Fragile), "fragile".into());
        let mut decision = Decision::default();
        guarded.on_sent(&mut decision, &abi::Sent::default());
        assert_eq!((decision.cwnd, decision.flags), (7000, 0));
        guarded.update(&mut decision, |path| {
            path.on_discarded(0, 0);
            panic!("on purpose");
        });
        assert_eq!(decision, Decision { cwnd: 7000, flags: abi::decision::ENDED, ..Decision::default() });
        let ended = decision;
        guarded.on_sent(&mut decision, &abi::Sent::default());
        guarded.update(&mut decision, |path| path.on_discarded(0, 0));
        assert_eq!(decision, ended, "no decision after the panic");
    }

    #[test]
    fn a_sample_that_panics_ends_the_flow_with_its_acknowledgements() {
        let mut guarded = GuardedPath::new(Box::new(Fragile), "fragile".into());
        let mut decision = Decision::default();
        guarded.on_rtt(0, &abi::Rtt::default());
        guarded.update(&mut decision, |path| path.on_discarded(0, 0));
        assert_eq!(decision.flags, abi::decision::ENDED);
    }

    #[test]
    fn what_files_and_controllers_are_called_moves_no_cursor() {
        assert_eq!(printable("a\u{1b}[2J\tb\nc\u{9b}\u{7f}"), "a?[2J\tb\nc??");
    }
}
