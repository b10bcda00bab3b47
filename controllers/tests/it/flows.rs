//! A group of flows with the table they share, as an adapter would keep it.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::vec::Vec;

use windlass_controllers::{ConfiguredController, Decision, Event, EventKind, Member, Path, Table, Time, View};

/// Flows of one group; an ungrouped controller ignores the table.
pub struct Flows<E: ConfiguredController> {
    pub engine: E,
    pub shared: E::Group,
    pub members: Vec<Member>,
    pub states: Vec<E::State>,
    next_id: u64,
}

impl<E: ConfiguredController> Flows<E> {
    pub fn new(engine: E) -> Self {
        let shared = engine.group();
        Flows { engine, shared, members: Vec::new(), states: Vec::new(), next_id: 0 }
    }

    pub fn join(&mut self, path: &Path) {
        let state = self.engine.start(path);
        self.adopt(state, path.now);
    }

    /// A flow that comes from elsewhere joins.
    pub fn adopt(&mut self, state: E::State, now: Time) {
        self.members.push(Member::new(self.next_id));
        self.states.push(state);
        self.next_id += 1;
        self.step(self.states.len() - 1, &Event::new(now, EventKind::Joined));
    }

    /// A flow leaves, announced or not.
    pub fn leave(&mut self, me: usize, now: Time, says_so: bool) -> E::State {
        if says_so {
            self.step(me, &Event::new(now, EventKind::Left));
        }
        self.members.remove(me);
        self.states.remove(me)
    }

    pub fn step(&mut self, me: usize, event: &Event) {
        let table = Table { shared: &mut self.shared, members: &mut self.members, me };
        self.engine.step(&mut self.states[me], table, event);
    }

    pub fn view(&self, me: usize) -> View<'_, E::Group> {
        View { shared: &self.shared, members: &self.members, me }
    }

    pub fn decide(&self, me: usize) -> Decision {
        self.engine.decide(&self.states[me], self.view(me))
    }
}
