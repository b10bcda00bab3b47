//! Reno that also yields to delay: a mild reduction once the RTT passes a point within the range
//! it has had, alone or with the siblings that have larger windows (`spec: cho §3`,
//! `spec: chan §9`): [`DcaC`], [`DcaS`], [`Dual`].

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::event::RttSample;
use crate::parts::base::Base;
use crate::parts::base_delay::{self, BaseDelay, Sample};
use crate::parts::limits::Limits;
use crate::parts::recovery::Response;
use crate::parts::vegas::signed;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{EventKind, Info, Parameters, Signals, Span, Time, View, parameters};

parameters! {
    /// Parameters of [`DcaC`] and [`DcaS`].
    pub struct Params {
        @base Base, paper Limits { ssthresh: 200.0, max_window: 200.0, ..Limits::cho() };
        @with path: base_delay::Settings, "How long the least RTT is believed.";
        /// Where between the least and the largest RTT a sample begins to be a sign of congestion.
        gamma: f64 = 0.5, in 0.0, 1.0, source "spec: cho §3.1";
        /// Fraction of its window a flow gives up on such a sign; its siblings share out as much.
        alpha: f64 = 0.125, in 0.0, 0.499, source "spec: cho §3.1";
    }
}

/// The range RTT samples have had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Smallest RTT sample.
    pub min: Span,
    /// Largest RTT sample.
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

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// The RTTs it has had; `None` before the first.
    pub range: Option<Range>,
    /// The next sample that counts is of a packet sent no earlier.
    pub next: Time,
    /// Samples that counted since one was judged.
    pub passed: u8,
    /// Whether the path has become longer.
    base: BaseDelay,
}

impl State {
    /// Takes a sample in, one per round trip, and finds
    /// whether it is a sign of congestion; one of `every` is judged
    /// (`spec: cho §3.2 rules 1–3`; `spec: chan §9`).
    fn on_rtt_sample(&mut self, params: &Params, every: u8, sample: Sample) -> bool {
        let Sample { now, sent_at, rtt, .. } = sample;
        if sent_at < self.next {
            return false;
        }
        self.next = now;
        let longer = self.base.sample(&params.path, sample);
        let range = self.range.get_or_insert(Range { min: rtt, max: rtt });
        range.min = if longer { rtt } else { range.min.min(rtt) };
        range.max = range.max.max(rtt);
        self.passed += 1;
        if self.passed < every {
            return false;
        }
        self.passed = 0;
        range.passed(params.gamma, rtt)
    }
}

/// Whom a sign of congestion concerns.
pub trait Reach: Debug + Send + Sync + 'static {
    /// See [`Controller::INFO`](crate::Controller::INFO).
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

/// What a DCA flow needs without siblings.
const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);

#[doc = include_str!("dca_c.md")]
pub type DcaC = Dca<Collaborative>;

#[doc = include_str!("dca_s.md")]
pub type DcaS = Dca<Selfish>;

#[doc = include_str!("dual.md")]
pub type Dual = Dca<EverySecond>;

/// Signs of congestion concern the group (`spec: cho §3`). A group of one is [`DcaS`].
#[derive(Debug)]
pub struct Collaborative;

impl Reach for Collaborative {
    const INFO: Info = Info {
        name: "dca-c",
        summary: "Reno that yields to delay, and makes larger siblings yield too",
        source: "Cho 2006, ch. II; spec: cho §2, §3",
        fallback: None,
    };
    const NEEDS: Signals = NEEDS.and(Signals::GROUPS);
    type Params = Params;
}

/// Signs of congestion concern the flow that sees them (`spec: cho §3`). With `gamma=1` it is
/// Reno.
#[derive(Debug)]
pub struct Selfish;

impl Reach for Selfish {
    const INFO: Info = Info {
        name: "dca-s",
        summary: "Reno that yields to delay by a mild cut of its own window",
        source: "Cho 2006, ch. II; spec: cho §3",
        fallback: None,
    };
    const NEEDS: Signals = NEEDS;
    type Params = Params;
}

parameters! {
    /// Parameters of [`Dual`].
    pub struct DualParams {
        @base Params, paper Params { base: Limits { timeout_window: 1.0, ..Limits::chan() }.into(), path: base_delay::Settings::paper(), ..Params::default() };
    }
}

impl AsRef<Base> for DualParams {
    fn as_ref(&self) -> &Base {
        self.base.as_ref()
    }
}

/// Signs of congestion concern the flow itself, every second round trip (`spec: chan §9`).
#[derive(Debug)]
pub struct EverySecond;

impl Reach for EverySecond {
    const INFO: Info = Info {
        name: "dual",
        summary: "Reno that gives up an eighth every second round trip the RTT is high",
        source: "Wang and Crowcroft 1992; spec: chan §9",
        fallback: None,
    };
    const NEEDS: Signals = NEEDS;
    type Params = DualParams;
    const EVERY: u8 = 2;
    const FOLLOWS: bool = true;
}

/// DCA for flows whose signs of congestion reach as far as `R` says.
#[derive(Debug)]
pub struct Dca<R>(PhantomData<R>);

fn settings<'a, R: Reach>(flow: &Flow<'a, Dca<R>>) -> &'a Params {
    flow.params.as_ref()
}

/// Siblings with larger windows give up their part (`spec: cho §3.2 rules 4, 5`).
fn lower_larger_siblings<R: Reach>(flow: &mut Flow<'_, Dca<R>>) {
    let (params, now, own) = (settings(flow), flow.now, flow.cwnd);
    let others = (flow.group_size() - 1) as f64;
    for member in flow.siblings().filter(|member| member.cwnd > own) {
        member.scale(member.cwnd - params.alpha * member.cwnd / others, params.base.limits.min_window, now);
    }
}

/// The flow's own part (`spec: cho §3.2 rule 6`). A loss response that came before it
/// stands.
fn yield_to_delay<R: Reach>(flow: &mut Flow<'_, Dca<R>>) {
    let Window { cwnd, ssthresh, .. } = *flow.window;
    if cwnd > ssthresh {
        let params = settings(flow);
        flow.window.lower(&params.base.limits, cwnd - params.alpha * cwnd);
        flow.window.discard_undo();
        if R::FOLLOWS {
            flow.window.ssthresh = ssthresh.min(flow.cwnd);
        }
    }
}

impl<R: Reach> WindowScheme for Dca<R> {
    const INFO: Info = R::INFO;
    const NEEDS: Signals = R::NEEDS;
    type Params = R::Params;
    type State = State;
    type Group = ();

    /// `spec: cho §3.2 Ack, rules 1–6`.
    #[inline(always)]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        let sent_at = match flow.event.kind {
            EventKind::PacketsAcked(ref acked) => acked.newest_sent_at,
            _ => Time(flow.now.0.saturating_sub(rtt.latest.0)),
        };
        let sample = Sample { now: flow.now, sent_at, ns: signed(rtt.adjusted()), rtt: rtt.adjusted() };
        if flow.state.on_rtt_sample(settings(flow), R::EVERY, sample) {
            lower_larger_siblings(flow);
            yield_to_delay(flow);
        }
    }

    /// `spec: cho §1.6 STD-ACK`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }

    /// `spec: cho §3.2 Congestion`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        flow.state.next = flow.now;
        Response::to(0.5 * flow.cwnd)
    }

    /// `spec: cho §3.2 Timeout`.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        flow.state.next = flow.now;
        0.5 * flow.cwnd
    }

    #[inline]
    fn base_delay(state: &State) -> Option<&BaseDelay> {
        Some(&state.base)
    }

    fn inspect(
        params: &R::Params,
        state: &State,
        _: &Window,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        if let Some(range) = state.range {
            visit("rtt_min_ms", range.min.millis());
            visit("rtt_max_ms", range.max.millis());
            visit("rtt_threshold_ms", range.threshold(AsRef::<Params>::as_ref(params).gamma));
        }
    }
}

#[cfg(test)]
mod tests {
    mod dca_c;
    mod dca_s;
    mod dual;
}
