//! Parallel flows of which some grow more slowly the more there are, and all halve as ever
//! (`spec: cho §9`): [`Fractional`] and [`Combined`].

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::recovery::Response;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Signals, View, parameters};

parameters! {
    /// Parameters of [`Fractional`] and [`Combined`].
    pub struct Params {
        @base Base, paper Limits::cho();
    }
}

/// Which members of a group grow more slowly, and by how much.
pub trait Slowing: Debug + Send + Sync + 'static {
    /// See [`Controller::INFO`](crate::Controller::INFO).
    const INFO: Info;

    /// How many times as slowly as a standard flow the member at place `me`, from 0, of a
    /// group of `n` grows; at least 1.
    fn slowed(me: usize, n: usize) -> f64;
}

/// A group whose members are slowed as `S` says.
#[derive(Debug)]
pub struct Slowed<S>(PhantomData<S>);

#[doc = include_str!("fractional.md")]
pub type Fractional = Slowed<All>;

#[doc = include_str!("combined.md")]
pub type Combined = Slowed<AllButOldest>;

/// Every member grows as slowly as there are members. A group of one is
/// [`reno`](crate::schemes::reno).
#[derive(Debug)]
pub struct All;

impl Slowing for All {
    const INFO: Info = Info {
        name: "fractional",
        summary: "parallel flows that each grow more slowly the more they are",
        source: "Hacker, Noble and Athey 2004; spec: cho §2, §9",
        fallback: None,
    };

    fn slowed(_: usize, n: usize) -> f64 {
        n as f64
    }
}

/// The oldest member is a standard flow, the others are a fractional group. A group of one or
/// two is so many [`reno`](crate::schemes::reno)s.
#[derive(Debug)]
pub struct AllButOldest;

impl Slowing for AllButOldest {
    const INFO: Info = Info {
        name: "combined",
        summary: "a standard flow beside parallel flows that grow more slowly the more they are",
        source: "Hacker, Noble and Athey 2004; spec: cho §2, §9",
        fallback: None,
    };

    fn slowed(me: usize, n: usize) -> f64 {
        if me == 0 { 1.0 } else { n.saturating_sub(1).max(1) as f64 }
    }
}

impl<S: Slowing> WindowScheme for Slowed<S> {
    const INFO: Info = S::INFO;
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::GROUPS);
    type Params = Params;
    type State = ();
    type Group = ();

    /// `spec: cho §9`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd / S::slowed(flow.group.me, flow.group_size())
    }

    /// `spec: cho §9`: the decrease is unchanged, and the flow's alone.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to(0.5 * flow.cwnd)
    }

    fn inspect(_: &Params, (): &(), _: &Window, group: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("slowed", S::slowed(group.me, group.members.len().max(1)));
    }
}

#[cfg(test)]
mod tests;
