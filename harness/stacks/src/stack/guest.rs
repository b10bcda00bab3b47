//! Stacks a program brings along, since their native builds keep them out of this crate.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use windlass_controllers::Signals;

use super::real::{Run, RunLive};

/// A stack this crate does not depend on. The program that does makes it known with
/// [`Guest::welcome`] before it runs a command (`windlass::cli::main_with`).
pub struct Guest {
    /// What a user types.
    pub name: &'static str,
    /// What it is called in results of real sockets.
    pub wire_name: &'static str,
    /// The signals it gives a controller.
    pub provides: Signals,
    /// Its own controllers: what a user types after `native:`.
    pub natives: &'static [&'static str],
    /// Runs a scenario under virtual time, if it can.
    pub run: Option<Run>,
    /// Runs a scenario on real sockets, if it can.
    pub live: Option<RunLive>,
}

static GUESTS: RwLock<Vec<&'static Guest>> = RwLock::new(Vec::new());

impl Guest {
    /// Makes it a stack of this process.
    pub fn welcome(&'static self) {
        let mut guests = GUESTS.write().unwrap_or_else(PoisonError::into_inner);
        if !guests.contains(&self) {
            guests.push(self);
        }
    }

    /// All that are.
    #[must_use]
    pub fn all() -> Vec<&'static Guest> {
        GUESTS.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl PartialEq for Guest {
    fn eq(&self, other: &Guest) -> bool {
        self.name == other.name
    }
}

impl Eq for Guest {}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Live, Stack};
    use super::*;

    static LIVE_ONLY: Guest = Guest {
        name: "visitor",
        wire_name: "visitor-wire",
        provides: Signals::ACKS,
        natives: &["own"],
        run: None,
        live: Some(|_, _, _| Err(crate::RunError::Stopped)),
    };

    #[test]
    fn a_guest_is_a_stack_like_the_others() {
        LIVE_ONLY.welcome();
        LIVE_ONLY.welcome();
        assert_eq!(Guest::all().iter().filter(|guest| guest.name == "visitor").count(), 1);
        let stack = Stack::named("visitor").unwrap();
        assert!(Stack::all().contains(&stack) && !Stack::ALL.contains(&stack));
        assert_eq!((stack.name(), stack.provides(), stack.natives()), ("visitor", Signals::ACKS, &["own"][..]));
        let live = Stack::Wire(Live::of(stack).unwrap());
        assert_eq!((live.name(), live.provides()), ("visitor-wire", Signals::ACKS));
        // What has no virtual time is compared in real time.
        assert_eq!(stack.in_its_own_time(), live);
        assert_eq!(Stack::Quinn.in_its_own_time(), Stack::Quinn);
    }
}
