//! Parallel flows of which some grow more slowly the more there are, and all halve as ever
//! (`spec: cho §9`).

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::parameters;
use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::grouped::{Flow, GroupRules};
use crate::parts::window::Window;
use crate::{Info, Path, Signals, View};

parameters! {
    /// What schemes of slowed flows let one set.
    pub struct Params {
        @base Base, paper Base::cho();
    }
}

/// Which members of a group grow more slowly, and by how much.
pub trait Slowing: Debug + Send + Sync + 'static {
    /// Name, summary, source and fallback.
    const INFO: Info;

    /// How many times as slowly as a standard flow the member at place `me`, from 0, of a
    /// group of `n` grows; at least 1.
    fn slowed(me: usize, n: usize) -> f64;
}

/// The rules of a group whose members are slowed as `S` says.
#[derive(Debug)]
pub struct Fractional<S>(PhantomData<S>);

impl<S: Slowing> GroupRules for Fractional<S> {
    const INFO: Info = S::INFO;
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::GROUPS);
    type Params = Params;
    type Memory = ();
    type Shared = ();

    fn shared(_: &Params) {}

    fn start(_: &Params, _: &Path) {}

    /// `spec: cho §9`.
    #[inline]
    fn increase(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        aimd::increase(1.0, flow.window, units) / S::slowed(flow.group.me, flow.size())
    }

    /// `spec: cho §9`: the decrease is unchanged, and nobody else's.
    fn congestion(flow: &mut Flow<'_, Self>) {
        let cut = aimd::decrease(0.5, flow.window);
        flow.respond(cut);
    }

    fn inspect(_: &Params, (): &(), _: &Window, group: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("slowed", S::slowed(group.me, group.members.len().max(1)));
    }
}
