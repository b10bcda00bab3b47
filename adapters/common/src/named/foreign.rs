//! Controllers that a program lends the names for a time: their rules may be another language's, and their states may
//! hold memory.

use std::any::TypeId;
use std::fmt::Debug;
use std::sync::{PoisonError, RwLock};

use windlass_controllers::param::{Param, ParamError, Range};
use windlass_controllers::text::{Configurable, Names};
use windlass_controllers::{ConfiguredController, Decision, Event, Info, Path, Signals, Table, View};

use super::{AddError, Erased, Kept, NamedController, Own, check_name};

/// A controller of which only what [`ConfiguredController`] says is known. A flow of it resumes no path.
#[derive(Clone, Debug)]
pub struct Foreign<C>(pub C);

/// Those whose names stand for them now.
static LENT: RwLock<Vec<NamedController>> = RwLock::new(Vec::new());

/// A name that stands for a [`Foreign`] controller until this is dropped. What was read meanwhile keeps the controller.
#[derive(Debug)]
#[must_use]
pub struct Lent(NamedController);

impl Drop for Lent {
    fn drop(&mut self) {
        LENT.write().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != self.0);
    }
}

impl NamedController {
    /// `controller`, which no name stands for.
    #[must_use]
    pub fn foreign<C: ConfiguredController>(controller: &'static Foreign<C>) -> NamedController {
        Self::Own(Own { controller, text: controller.name() })
    }

    /// Has the name of `controller` stand for it in every text that is read in this process, but in no list of
    /// controllers, until what is returned is dropped.
    ///
    /// # Errors
    /// The name is none, or stands for another controller.
    pub fn lend<C: ConfiguredController>(controller: &'static Foreign<C>) -> Result<Lent, AddError> {
        let mut lent = LENT.write().unwrap_or_else(PoisonError::into_inner);
        let name = controller.name();
        let taken = Self::added().iter().any(|entry| entry.name == name);
        check_name(name, taken || lent.iter().any(|other| ConfiguredController::name(other) == name))?;
        lent.push(Self::foreign(controller));
        Ok(Lent(Self::foreign(controller)))
    }

    /// The name that is lent now and that `text` contains, if any does: what the text stands for is then known to this
    /// process alone.
    #[must_use]
    pub fn lent_in(text: &str) -> Option<&'static str> {
        let lent = LENT.read().unwrap_or_else(PoisonError::into_inner);
        lent.iter().map(ConfiguredController::name).find(|name| text.contains(name))
    }

    pub(super) fn lent(name: &str) -> Option<NamedController> {
        let lent = LENT.read().unwrap_or_else(PoisonError::into_inner);
        lent.iter().copied().find(|controller| ConfiguredController::name(controller) == name)
    }
}

/// It has the parameters that [`ConfiguredController::with`] takes, of which no list tells.
impl<C: ConfiguredController> Configurable for Foreign<C> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
        self.0 = self.0.with(name, value).ok_or(ParamError::Unknown)?;
        Ok(())
    }
    fn describe(&self, _: &mut dyn FnMut(&Param)) {}
    fn limit(&self) -> Option<(&'static str, Range)> {
        None
    }
    fn parameters(&self) -> Names {
        Names::of::<()>()
    }
}

impl<C: ConfiguredController> Erased for Foreign<C> {
    fn kind(&self) -> TypeId {
        TypeId::of::<Self>()
    }
    fn boxed(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }
    fn plain(&self) -> &dyn Configurable {
        self
    }
    fn as_configurable(&mut self) -> &mut dyn Configurable {
        self
    }
    fn info(&self) -> Info {
        self.0.info()
    }
    fn needs(&self) -> Signals {
        self.0.needs()
    }
    fn wants_packet_sent(&self) -> bool {
        self.0.wants_packet_sent()
    }
    fn wants_packet_sent_in(&self, state: &Kept) -> bool {
        state.get().is_some_and(|state| self.0.wants_packet_sent_in(state))
    }
    fn group(&self) -> Kept {
        Kept::new(self.0.group())
    }
    fn start(&self, path: &Path) -> Kept {
        Kept::new(self.0.start(path))
    }
    fn step(&self, state: &mut Kept, Table { shared, members, me }: Table<'_, Kept>, event: &Event) {
        match (state.get_mut(), shared.get_mut()) {
            (Some(state), Some(shared)) => self.0.step(state, Table { shared, members, me }, event),
            _ => debug_assert!(false, "state and group belong to another controller"),
        }
    }
    fn decide(&self, state: &Kept, View { shared, members, me }: View<'_, Kept>) -> Option<Decision> {
        Some(self.0.decide(state.get()?, View { shared: shared.get()?, members, me }))
    }
    fn inspect(&self, state: &Kept, group: View<'_, Kept>, visit: &mut dyn FnMut(&'static str, f64)) {
        let View { shared, members, me } = group;
        if let (Some(state), Some(shared)) = (state.get(), shared.get()) {
            self.0.inspect(state, View { shared, members, me }, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_controllers::event::PacketsLost;
    use windlass_controllers::{EventKind, Time};

    use super::*;
    use crate::Flow;

    /// Halves a window whose values so far it keeps.
    #[derive(Clone, Debug)]
    struct Halving(&'static str);

    impl ConfiguredController for Halving {
        type State = Vec<u64>;
        type Group = ();

        fn info(&self) -> Info {
            Info { name: self.0, summary: "", source: "", fallback: None }
        }
        fn needs(&self) -> Signals {
            Signals::LOSS
        }
        fn wants_packet_sent(&self) -> bool {
            false
        }
        fn group(&self) {}
        fn start(&self, path: &Path) -> Vec<u64> {
            vec![64 * u64::from(path.mtu)]
        }
        fn step(&self, state: &mut Vec<u64>, _: Table<'_, ()>, _: &Event) {
            state.push(state[state.len() - 1] / 2);
        }
        fn decide(&self, state: &Vec<u64>, _: View<'_, ()>) -> Decision {
            Decision::new(state[state.len() - 1])
        }
        fn inspect(&self, state: &Vec<u64>, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
            visit("steps", state.len() as f64);
        }
    }

    static HALVING: Foreign<Halving> = Foreign(Halving("halving"));
    static NAMESAKE: Foreign<Halving> = Foreign(Halving("halving"));
    static RENO: Foreign<Halving> = Foreign(Halving("reno"));
    static SHOUTING: Foreign<Halving> = Foreign(Halving("Halving"));

    #[test]
    fn a_name_stands_for_it_as_long_as_it_is_lent() {
        assert!(NamedController::read("halving").is_err());
        let lent = NamedController::lend(&HALVING).unwrap();
        let read = NamedController::read("halving").unwrap();
        assert_eq!(NamedController::lend(&NAMESAKE).unwrap_err(), AddError::Taken("halving"));
        assert_eq!(NamedController::lend(&RENO).unwrap_err(), AddError::Taken("reno"));
        assert_eq!(NamedController::lend(&SHOUTING).unwrap_err(), AddError::Name("Halving"));
        assert!(NamedController::read("halving:b=1").unwrap_err().to_string().contains("has no parameter \"b\""));
        assert!(!NamedController::all().any(|entry| entry.name == "halving"));
        let scenario = "controller = \"halving\"";
        assert_eq!(NamedController::lent_in(scenario), Some("halving"));
        assert_eq!(NamedController::lent_in("controller = \"reno\""), None);
        drop(lent);
        assert_eq!(NamedController::lent_in(scenario), None);
        assert!(NamedController::read("halving").is_err());
        assert_eq!((read.to_string().as_str(), read.needs()), ("halving", Signals::LOSS));
        assert_ne!(read, NamedController::foreign(&NAMESAKE), "they are two that have one name");
    }

    #[test]
    fn its_states_may_hold_memory_and_a_clone_has_its_own() {
        let mut flow = Flow::ungrouped(NamedController::foreign(&HALVING), &Path::new(Time::ZERO, 1000, 1));
        let loss = Event::new(Time(5), EventKind::PacketsLost(PacketsLost::new(1000, 1, Time(4), 10_000)));
        assert_eq!(flow.on_event(&loss).cwnd, 32_000);
        let clone = flow.clone();
        assert_eq!(flow.on_event(&loss).cwnd, 16_000);
        let steps = |flow: &Flow| {
            let mut found = Vec::new();
            flow.inspect(&mut |name, value| found.push((name, value)));
            found
        };
        assert_eq!((steps(&flow), steps(&clone)), (vec![("steps", 3.0)], vec![("steps", 2.0)]));
        assert_eq!((clone.cwnd(), clone.state() == flow.state()), (32_000, false));
    }
}
