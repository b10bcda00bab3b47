//! Reno that also yields to delay: a mild cut once the RTT passes a point within the range
//! it has had, alone or with the siblings that have larger windows (`spec: cho §3`,
//! `spec: chan §9`).

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::grouped::{Flow, GroupRules};
use crate::parts::window::Window;
use crate::{Event, EventKind, Info, Parameters, Path, Signals, Span, Time, View, parameters};

parameters! {
    /// What schemes that yield to delay let one set.
    pub struct Params {
        @base Base, paper Base { ssthresh: 200.0, max_window: 200.0, ..Base::cho() };
        /// Where between the least and the largest RTT a sample begins to be a sign of congestion.
        gamma: f64 = 0.5, in 0.0, 1.0, source "spec: cho §3.1";
        /// Fraction of its window a flow gives up on such a sign; its siblings share out as much.
        alpha: f64 = 0.125, in 0.0, 0.499, source "spec: cho §3.1";
    }
}

/// The range RTT samples have had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The least.
    pub min: Span,
    /// The largest.
    pub max: Span,
}

impl Range {
    /// Whether `rtt`, which is in the range, is beyond the fraction `gamma` of it
    /// (`spec: cho §3.2 rule 3, eq. 2.1`). Both sides are differences from the minimum, so
    /// that nothing is beyond all of the range, however large the numbers.
    #[must_use]
    pub fn passed(&self, gamma: f64, rtt: Span) -> bool {
        (rtt - self.min).0 as f64 > gamma * (self.max - self.min).0 as f64
    }

    /// The threshold T, milliseconds (`spec: cho eq. 2.1`).
    #[must_use]
    pub fn threshold(&self, gamma: f64) -> f64 {
        self.min.millis() + gamma * (self.max - self.min).millis()
    }
}

impl AsRef<Params> for Params {
    fn as_ref(&self) -> &Params {
        self
    }
}

/// What a flow remembers besides its window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// The RTTs it has had; none before the first.
    pub range: Option<Range>,
    /// The next sample that counts is of a packet sent no earlier.
    pub next: Time,
    /// Samples that counted since one was judged.
    pub passed: u8,
}

impl Memory {
    /// Takes the sample of a packet sent at `sent_at`, one per round trip, and tells
    /// whether it is a sign of congestion; one of `every` is judged
    /// (`spec: cho §3.2 rules 1–3`; `spec: chan §9`).
    fn sampled(&mut self, gamma: f64, every: u8, now: Time, sent_at: Time, rtt: Span) -> bool {
        if sent_at < self.next {
            return false;
        }
        self.next = now;
        let range = self.range.get_or_insert(Range { min: rtt, max: rtt });
        range.min = range.min.min(rtt);
        range.max = range.max.max(rtt);
        self.passed += 1;
        if self.passed < every {
            return false;
        }
        self.passed = 0;
        range.passed(gamma, rtt)
    }
}

/// Whom a sign of congestion concerns.
pub trait Reach: Debug + Send + Sync + 'static {
    /// Name, summary, source and fallback.
    const INFO: Info;
    /// With [`GROUPS`](Signals::GROUPS) or without: a flow that keeps its window out of
    /// the group's table has no siblings.
    const NEEDS: Signals;
    /// See [`Controller::Params`](crate::Controller::Params).
    type Params: Parameters + AsRef<Base> + AsRef<Params>;
    /// One sample per so many round trips is judged.
    const EVERY: u8 = 1;
    /// Whether the threshold follows the window down, so that what was given up is not
    /// taken back in slow start.
    const FOLLOWS: bool = false;
}

/// What a DCA flow needs to hear by itself.
pub const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);

/// DCA's rules, for flows whose signs reach as far as `R` says.
#[derive(Debug)]
pub struct Dca<R>(PhantomData<R>);

fn settings<'a, R: Reach>(flow: &Flow<'a, Dca<R>>) -> &'a Params {
    flow.params.as_ref()
}

/// Siblings with larger windows give up their part (`spec: cho §3.2 rules 4, 5`).
fn warn<R: Reach>(flow: &mut Flow<'_, Dca<R>>) {
    let (params, now, own) = (settings(flow), flow.now, flow.window.cwnd);
    let others = (flow.size() - 1) as f64;
    for member in flow.siblings().filter(|member| member.cwnd > own) {
        member.scale(member.cwnd - params.alpha * member.cwnd / others, params.base.min_window, now);
    }
}

/// The flow's own part (`spec: cho §3.2 rule 6`). A loss response that came before it
/// stands.
fn yield_to_delay<R: Reach>(flow: &mut Flow<'_, Dca<R>>) {
    let Window { cwnd, ssthresh, .. } = *flow.window;
    if cwnd > ssthresh {
        let params = settings(flow);
        flow.window.lower(&params.base, cwnd - params.alpha * cwnd);
        flow.window.discard_undo();
        if R::FOLLOWS {
            flow.window.ssthresh = ssthresh.min(flow.window.cwnd);
        }
    }
}

impl<R: Reach> GroupRules for Dca<R> {
    const INFO: Info = R::INFO;
    const NEEDS: Signals = R::NEEDS;
    type Params = R::Params;
    type Memory = Memory;
    type Shared = ();

    fn shared(_: &R::Params) {}

    fn start(_: &R::Params, _: &Path) -> Memory {
        Memory::default()
    }

    /// `spec: cho §3.2 Ack, rules 1–6`.
    #[inline]
    fn heard(flow: &mut Flow<'_, Self>, event: &Event) {
        let Some(rtt) = event.rtt() else { return };
        let sent_at = match event.kind {
            EventKind::PacketsAcked(ref acked) => acked.newest_sent_at,
            _ => Time(flow.now.0.saturating_sub(rtt.latest.0)),
        };
        let gamma = settings(flow).gamma;
        if flow.memory.sampled(gamma, R::EVERY, flow.now, sent_at, rtt.adjusted()) {
            warn(flow);
            yield_to_delay(flow);
        }
    }

    /// `spec: cho §1.6 STD-ACK`.
    #[inline]
    fn increase(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        aimd::increase(1.0, flow.window, units)
    }

    /// `spec: cho §3.2 Congestion`.
    fn congestion(flow: &mut Flow<'_, Self>) {
        flow.memory.next = flow.now;
        let cut = aimd::decrease(0.5, flow.window);
        flow.respond(cut);
    }

    /// `spec: cho §3.2 Timeout`.
    fn timeout(flow: &mut Flow<'_, Self>) -> f64 {
        flow.memory.next = flow.now;
        0.5 * flow.window.cwnd
    }

    fn inspect(
        params: &R::Params,
        memory: &Memory,
        _: &Window,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        if let Some(range) = memory.range {
            visit("rtt_min_ms", range.min.millis());
            visit("rtt_max_ms", range.max.millis());
            visit("rtt_threshold_ms", range.threshold(AsRef::<Params>::as_ref(params).gamma));
        }
    }
}
