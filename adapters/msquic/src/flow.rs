//! A path whose controller may panic.

use std::io::Write;
use std::sync::Arc;

use windlass_adapter::{Guarded, Panicked};
use windlass_msquic_abi::{self as abi, Control};

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

    /// Passes an event to the path and updates `control`.
    pub(crate) fn update(&mut self, control: &mut Control, event: impl FnOnce(&mut dyn PathEvents)) {
        let updated = self.path.call_mut(|path| {
            event(path.as_mut());
            let fell_back = path.fall_back();
            (path.control(), fell_back)
        });
        match updated {
            Ok((decided, fell_back)) => {
                *control = decided;
                if let Some(fell_back) = fell_back {
                    warn(&fell_back.line);
                    if let Some(controller) = fell_back.controller {
                        self.controller = controller.into();
                    }
                }
            }
            Err(panicked) => self.ended(control, panicked),
        }
    }

    /// Passes a sent packet to the path. `control` is updated only if the flow got an event.
    pub(crate) fn on_sent(&mut self, control: &mut Control, sent: &abi::Sent) {
        match self.path.call_mut(|path| path.on_sent(sent).then(|| path.control())) {
            Ok(Some(decided)) => *control = decided,
            Ok(None) => {}
            Err(panicked) => self.ended(control, panicked),
        }
    }

    #[cold]
    fn ended(&mut self, control: &mut Control, panicked: Panicked) {
        if panicked == Panicked::Now {
            control.flags = abi::control::ENDED;
            warn(&format!("{} panicked; MsQuic's CUBIC takes over its connection", self.controller));
        }
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
        fn on_acked(&mut self, _: &abi::Acked, _: &[abi::Packet]) {
            panic!("on purpose");
        }
        fn on_ecn_ce(&mut self, _: &abi::EcnCe) {}
        fn on_lost(&mut self, _: &abi::Lost, _: &[abi::Packet]) {}
        fn on_spurious_loss(&mut self, _: &abi::SpuriousLoss) {}
        fn on_discarded(&mut self, _: u64, _: u32) {}
        fn fall_back(&mut self) -> Option<windlass_adapter::FellBack> {
            None
        }
        fn control(&self) -> Control {
            Control { cwnd: 7000, ..Control::default() }
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
        let mut control = Control::default();
        guarded.on_sent(&mut control, &abi::Sent::default());
        assert_eq!((control.cwnd, control.flags), (7000, 0));
        guarded.update(&mut control, |path| {
            path.on_discarded(0, 0);
            panic!("on purpose");
        });
        assert_eq!(control, Control { cwnd: 7000, flags: abi::control::ENDED, ..Control::default() });
        let ended = control;
        guarded.on_sent(&mut control, &abi::Sent::default());
        guarded.update(&mut control, |path| path.on_ecn_ce(&abi::EcnCe::default()));
        assert_eq!(control, ended, "no decision after the panic");
    }

    #[test]
    fn what_files_and_controllers_are_called_moves_no_cursor() {
        assert_eq!(printable("a\u{1b}[2J\tb\nc\u{9b}\u{7f}"), "a?[2J\tb\nc??");
    }
}
