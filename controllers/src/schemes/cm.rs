#![doc = include_str!("cm.md")]

use crate::event::PacketsAcked;
use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::window::Window;
use crate::parts::window_controller::{self, WindowController};
use crate::schemes::reno::{self, Reno};
use crate::{Controller, Decision, Event, EventKind, Info, Member, Path, Signals, Table, View, parameters};

parameters! {
    /// Parameters of [`Cm`]: `cm:NAME=VALUE,…`. Windows are the group's, but for `min_window`, which is also the least share.
    pub struct Params {
        @base Base, paper Limits::cho();
    }
}

/// What a flow keeps: its window is the group's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// Its datagram size, bytes.
    mtu: u32,
}

/// The group's window, a standard flow's; none until the first event of a member.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Group {
    pool: Option<window_controller::State<()>>,
}

/// The congestion manager (`spec: cho §9`). A group of one is
/// [`reno`].
#[derive(Debug)]
pub struct Cm;

fn reno(params: &Params) -> reno::Params {
    reno::Params { base: params.base }
}

/// A pool of a new group.
fn open(params: &Params, state: &State, now: crate::Time) -> window_controller::State<()> {
    WindowController::<Reno>::start(&reno(params), &Path::new(now, state.mtu, 0))
}

/// What each of `n` members may have in flight, packets of the group's datagram size.
fn share(params: &Params, pool: &Window, n: usize) -> f64 {
    if n > 1 { (pool.cwnd / n as f64).max(params.base.limits.min_window) } else { pool.cwnd }
}

/// `packets` of the flow's own size, bytes.
fn bytes(state: &State, packets: f64) -> u64 {
    (packets * f64::from(state.mtu.clamp(1, 65_527))) as u64
}

/// Whether a sibling has anything in flight.
fn is_busy(members: &[Member], me: usize) -> bool {
    members.iter().enumerate().any(|(i, member)| i != me && member.in_flight > 0)
}

impl Controller for Cm {
    const INFO: Info = Info {
        name: "cm",
        summary: "one Reno window for all flows of a group, in equal shares",
        source: "Balakrishnan, Rahul and Seshan 1999; spec: cho §2, §9",
        fallback: None,
    };
    type Params = Params;
    type State = State;
    type Group = Group;

    fn needs(_: &Params) -> Signals {
        Signals::ACKS | Signals::LOSS | Signals::GROUPS
    }

    fn group(_: &Params) -> Group {
        Group::default()
    }

    fn start(_: &Params, path: &Path) -> State {
        State { mtu: path.mtu }
    }

    fn step(params: &Params, state: &mut State, group: Table<'_, Group>, event: &Event) {
        let Table { shared, members, me } = group;
        let members = if me < members.len() { members } else { &mut [] };
        if let EventKind::MtuUpdated(mtu) = event.kind {
            state.mtu = mtu;
        }
        let pool = shared.pool.get_or_insert_with(|| open(params, state, event.now));
        if members.len() > 1 {
            // What siblings gave is not given back (spec: cho §11).
            pool.window.discard_undo();
        }
        let before = pool.window.cwnd;
        let stale;
        let reported = match event.kind {
            // The recovery period is a sibling's too: what was sent before it is worth no growth.
            EventKind::PacketsAcked(acked)
                if members.len() > 1 && !pool.window.recovery.accepts(acked.newest_sent_at) =>
            {
                stale = Event { kind: EventKind::PacketsAcked(PacketsAcked { fresh_bytes: 0, ..acked }), ..*event };
                Some(&stale)
            }
            EventKind::IdleRestart(_) if is_busy(members, me) => None,
            _ => Some(event),
        };
        if let Some(event) = reported {
            WindowController::<Reno>::step(&reno(params), pool, Table::solo(&mut ()), event);
        }
        let share = share(params, &pool.window, members.len());
        let joined = matches!(event.kind, EventKind::Joined);
        if joined || pool.window.cwnd < before {
            for (_, member) in members.iter_mut().enumerate().filter(|(i, _)| *i != me) {
                member.scale(share, params.base.limits.min_window, event.now);
            }
        }
        if let Some(member) = members.get_mut(me) {
            if joined {
                *member = Member::new(member.id);
            }
            member.cwnd = share;
            member.ssthresh = pool.window.ssthresh;
            member.in_flight = event.in_flight().unwrap_or(member.in_flight);
        }
    }

    fn decide(params: &Params, state: &State, group: View<'_, Group>) -> Decision {
        let pool = group.shared.pool.unwrap_or_else(|| open(params, state, crate::Time::ZERO)).window;
        let whole = pool.decision();
        let n = group.members.len();
        match group.members.get(group.me) {
            Some(member) if n > 1 => {
                let cwnd = pool.bytes(member.cwnd).max(bytes(state, params.base.limits.min_window));
                Decision { cwnd, ssthresh: whole.ssthresh.map(|bytes| bytes / n as u64), ..whole }
            }
            // The window may be of a group whose datagrams were smaller; a flow alone is Reno's, whose
            // smallest window is also that after a timeout.
            _ => {
                let least = params.base.limits.min_window.min(params.base.limits.timeout_window);
                Decision { cwnd: whole.cwnd.max(bytes(state, least)), ..whole }
            }
        }
    }

    fn inspect(params: &Params, state: &State, group: View<'_, Group>, visit: &mut dyn FnMut(&'static str, f64)) {
        let pool = group.shared.pool.unwrap_or_else(|| open(params, state, crate::Time::ZERO)).window;
        let n = group.members.len();
        visit("window", group.members.get(group.me).filter(|_| n > 1).map_or(pool.cwnd, |member| member.cwnd));
        if n > 0 {
            visit("group_size", n as f64);
            visit("group_window", pool.cwnd);
        }
    }
}

#[cfg(test)]
mod tests;
