//! A path whose panics end here: MsQuic is C, and a panic must not unwind into it.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use windlass_msquic_abi::Control;

use crate::path::Driven;

/// A path, until its controller panics. From then on its last decision holds.
pub(crate) struct Guarded {
    path: Option<Box<dyn Driven>>,
    controller: Arc<str>,
}

impl Guarded {
    /// Guards `path`, whose controller the user calls `controller`.
    pub(crate) fn new(path: Box<dyn Driven>, controller: Arc<str>) -> Self {
        Guarded { path: Some(path), controller }
    }

    /// Tells the path something; `control` is then what holds.
    pub(crate) fn tell(&mut self, control: &mut Control, what: impl FnOnce(&mut dyn Driven)) {
        let Some(path) = &mut self.path else { return };
        let told = catch_unwind(AssertUnwindSafe(|| {
            what(path.as_mut());
            path.control()
        }));
        match told {
            Ok(decided) => *control = decided,
            Err(_) => self.give_up(control),
        }
    }

    /// Tells the path that a packet left, which is often nothing to its controller.
    pub(crate) fn sent(&mut self, control: &mut Control, sent: &windlass_msquic_abi::Sent) {
        let Some(path) = &mut self.path else { return };
        let told = catch_unwind(AssertUnwindSafe(|| path.sent(sent).then(|| path.control())));
        match told {
            Ok(Some(decided)) => *control = decided,
            Ok(None) => {}
            Err(_) => self.give_up(control),
        }
    }

    #[cold]
    fn give_up(&mut self, control: &mut Control) {
        let path = self.path.take();
        // Leaving its group is a step too.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(path)));
        control.flags &= !windlass_msquic_abi::control::SHARED;
        say(&format!(
            "{} panicked; its connection goes on with the last window, {} bytes",
            self.controller, control.cwnd
        ));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let path = self.path.take();
        let _ = catch_unwind(AssertUnwindSafe(move || drop(path)));
    }
}

/// A line on standard error, if there is one.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "windlass: {line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_msquic_abi as abi;

    struct Fragile;

    impl Driven for Fragile {
        fn sent(&mut self, _: &abi::Sent) -> bool {
            true
        }
        fn acked(&mut self, _: &abi::Acked, _: &[abi::Packet]) {
            panic!("on purpose");
        }
        fn marked(&mut self, _: &abi::Marked) {}
        fn lost(&mut self, _: &abi::Lost, _: &[abi::Packet]) {}
        fn spurious(&mut self, _: &abi::Spurious) {}
        fn forgotten(&mut self, _: u64, _: u32) {}
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
    fn after_a_panic_the_last_window_holds() {
        let mut guarded = Guarded::new(Box::new(Fragile), "fragile".into());
        let mut control = Control::default();
        guarded.sent(&mut control, &abi::Sent::default());
        assert_eq!(control.cwnd, 7000);
        guarded.tell(&mut control, |_| panic!("on purpose"));
        assert!(guarded.path.is_none());
        assert_eq!(control.cwnd, 7000);
        control.cwnd = 1;
        guarded.sent(&mut control, &abi::Sent::default());
        assert_eq!(control.cwnd, 1, "nobody decides any more");
    }
}
