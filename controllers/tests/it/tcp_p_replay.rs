//! TCP-P against a second reading of the document that holds all flows in one place and
//! applies everything at once: the same tables to the bit (`spec: cho §4.3, §10.8`).

use crate::sender::Sender;
use crate::shared::Flows;
use windlass_controllers::parts::base::Base;
use windlass_controllers::parts::limits::{Growth, Limits};
use windlass_controllers::parts::window_controller::WindowController;
use windlass_controllers::schemes::tcp_p::{self, Params};
use windlass_controllers::{Event, EventKind, Path, Static, Time};

type TcpP = WindowController<tcp_p::TcpP>;

const EVENTS: u64 = 60;

struct Flow {
    cwnd: f64,
    ssthresh: f64,
    recovery_start: Option<Time>,
    in_recovery: bool,
    /// Average and its minimum, microseconds.
    srtt: Option<(f64, f64)>,
    scaled: Option<Time>,
    mtu: f64,
}

/// The group with every member updated at each step.
struct Group {
    params: Params,
    k: u32,
    flows: Vec<Flow>,
}

impl Group {
    fn join(&mut self, path: &Path) {
        let limits = &self.params.base.limits;
        self.flows.push(Flow {
            cwnd: limits.iw,
            ssthresh: limits.ssthresh,
            recovery_start: None,
            in_recovery: false,
            srtt: None,
            scaled: None,
            mtu: f64::from(path.mtu),
        });
    }

    fn event(&mut self, i: usize, event: &Event) {
        if let Some(rtt) = event.rtt() {
            let r = rtt.latest.0 as f64 / 1000.0;
            let flow = &mut self.flows[i];
            flow.srtt = Some(match flow.srtt {
                None => (r, r),
                Some((srtt, min)) => {
                    let srtt = srtt + (r - srtt) * 0.125;
                    (srtt, if srtt < min { srtt } else { min })
                }
            });
        }
        match &event.kind {
            EventKind::PacketsAcked(acked) => {
                let flow = &mut self.flows[i];
                if flow.recovery_start.is_some_and(|start| acked.newest_sent_at > start) {
                    flow.in_recovery = false;
                }
                if acked.app_limited || flow.in_recovery || acked.fresh_bytes == 0 {
                    return;
                }
                let u = match self.params.base.limits.growth {
                    Growth::Acks => 1.0,
                    _ => acked.fresh_bytes as f64 / flow.mtu,
                };
                self.grow(i, u);
            }
            EventKind::PacketsLost(lost) => self.congestion(i, event.now, lost.newest_sent_at),
            EventKind::EcnCe(marked) => self.congestion(i, event.now, marked.newest_sent_at),
            EventKind::PersistentCongestion(lost) => self.timeout(i, event.now, lost.newest_sent_at),
            _ => {}
        }
    }

    fn grow(&mut self, i: usize, u: f64) {
        let (k, n) = (f64::from(self.k), self.flows.len() as f64);
        let flow = &mut self.flows[i];
        let added = match (flow.cwnd < flow.ssthresh, k == n) {
            (true, true) => u,
            (true, false) if k / n > self.params.slow_start_cap => u * self.params.slow_start_cap,
            (true, false) => u * k / n,
            (false, true) => u / flow.cwnd,
            (false, false) => u * k / (n * flow.cwnd + (n - 1.0) / 2.0),
        };
        // As many packets as it takes are slow start's, the others avoidance's (RFC 9002 §B.5).
        if u > 1.0 && flow.cwnd < flow.ssthresh && flow.cwnd + added > flow.ssthresh {
            let used = ((flow.ssthresh - flow.cwnd) * u / added).ceil().min(u);
            flow.cwnd = (flow.cwnd + added * (used / u)).max(flow.ssthresh);
            if used < u {
                self.grow(i, u - used);
            }
            return;
        }
        flow.cwnd = (flow.cwnd + added).min(1_048_576.0);
    }

    fn guarded(&self, i: usize, now: Time) -> bool {
        let flow = &self.flows[i];
        match (flow.scaled, flow.srtt) {
            (Some(scaled), Some((_, min))) if (self.k as usize) < self.flows.len() => {
                (now.0 - scaled.0) as f64 / 1000.0 < min
            }
            _ => false,
        }
    }

    fn congestion(&mut self, i: usize, now: Time, sent_at: Time) {
        let guarded = self.guarded(i, now);
        let halves = self.k as usize <= self.flows.len();
        let flow = &mut self.flows[i];
        if flow.recovery_start.is_some_and(|start| sent_at <= start) {
            return;
        }
        flow.recovery_start = Some(now);
        flow.in_recovery = true;
        flow.ssthresh = (flow.cwnd / 2.0).max(2.0);
        if guarded {
            return;
        }
        let k = f64::from(self.k);
        let kept = if halves { flow.cwnd / 2.0 } else { flow.cwnd * (2.0 * k - 1.0) / (2.0 * k) };
        flow.cwnd = kept.max(2.0);
        self.scale_others(i, now);
    }

    fn scale_others(&mut self, i: usize, now: Time) {
        let (k, n) = (f64::from(self.k), self.flows.len() as f64);
        if k == n {
            return;
        }
        let f = 0.5 + n * (k - 1.0) / (2.0 * (n - 1.0) * k);
        for (j, flow) in self.flows.iter_mut().enumerate() {
            if j == i {
                continue;
            }
            let scaled = if k < n { flow.cwnd * f } else { flow.cwnd * (2.0 * k - 1.0) / (2.0 * k) };
            // A window that a timeout left below the floor stays there.
            flow.cwnd = if flow.cwnd < 2.0 { flow.cwnd } else { scaled.max(2.0) };
            flow.scaled = Some(now);
        }
    }

    fn timeout(&mut self, i: usize, now: Time, sent_at: Time) {
        let again = self.params.base.limits.timeout_reduces_again;
        let answered = !again && self.flows[i].recovery_start.is_some_and(|start| sent_at <= start);
        if !self.flows[i].in_recovery && !answered && !self.guarded(i, now) {
            self.scale_others(i, now);
        }
        let flow = &mut self.flows[i];
        if !answered {
            flow.ssthresh = (flow.cwnd / 2.0).max(2.0);
        }
        flow.cwnd = self.params.base.limits.timeout_window;
        flow.recovery_start = None;
        flow.in_recovery = false;
    }
}

fn compare(flows: &Flows<Static<TcpP>>, reference: &Group, place: &str) {
    for (i, (member, flow)) in flows.members.iter().zip(&reference.flows).enumerate() {
        let taken = (member.cwnd.to_bits(), member.ssthresh.to_bits(), member.scaled_by_other);
        let expected = (flow.cwnd.to_bits(), flow.ssthresh.to_bits(), flow.scaled);
        assert_eq!(taken, expected, "{place}: flow {i} is {member:?}, expected {}, {}", flow.cwnd, flow.ssthresh);
        let decision = flows.decide(i);
        assert_eq!(decision.cwnd, (flow.cwnd * flow.mtu) as u64, "{place}: flow {i}");
        assert_eq!(decision.recovery_start, flow.recovery_start, "{place}: flow {i}");
    }
}

#[test]
fn whole_group_replay() {
    let (mut guarded, mut cut) = (0, 0);
    let cases = crate::shared::wanted(10_000);
    for seed in 0..u64::from(cases) {
        let base = if seed % 2 == 0 { Base::default() } else { Limits::cho().into() };
        let slow_start_cap = if seed % 3 == 0 { f64::INFINITY } else { 1.0 };
        let params = Params { base, k: 1 + (seed % 5) as u32, slow_start_cap, linux_counters: false };
        let mut sender = Sender::new(seed, false);
        let mut flows = Flows::new(Static::<TcpP>(params));
        let mut reference = Group { params, k: params.k, flows: Vec::new() };
        for _ in 0..1 + seed % 4 {
            flows.join(&sender.path());
            reference.join(&sender.path());
        }
        let mut decision = flows.decide(0);
        for i in 0..EVENTS {
            let place = format!("seed {seed}, event {i}");
            if sender.random.one_in(40) {
                let path = Path::new(sender.path().now, 1200, sender.path().seed);
                flows.join(&path);
                reference.join(&path);
            } else if flows.states.len() > 1 && sender.random.one_in(40) {
                let me = sender.random.below(flows.states.len() as u64) as usize;
                flows.leave(me, sender.now, i % 2 == 0);
                reference.flows.remove(me);
            } else if sender.random.one_in(60) {
                reference.k = 1 + sender.random.below(7) as u32;
                flows.shared.k = reference.k;
            }
            compare(&flows, &reference, &place);
            let me = sender.random.below(flows.states.len() as u64) as usize;
            let event = sender.event(&decision);
            if matches!(event.kind, EventKind::MtuUpdated(_) | EventKind::IdleRestart(_) | EventKind::SpuriousLoss(_)) {
                continue;
            }
            if matches!(event.kind, EventKind::PacketsLost(_) | EventKind::EcnCe(_)) {
                *if reference.guarded(me, event.now) { &mut guarded } else { &mut cut } += 1;
            }
            flows.step(me, &event);
            reference.event(me, &event);
            compare(&flows, &reference, &place);
            decision = flows.decide(me);
        }
    }
    assert!(guarded > cases / 10 && cut > cases / 10, "the sequences reach both branches: {guarded}, {cut}");
}
