"""The rule of the catalogue's Reno (RFC 9002 §7) in Python, with the same arithmetic."""

import math
from dataclasses import dataclass

from windlass import Decision, Event, Path

LEAST = 2.0
LARGEST = 1_048_576.0
LONG_AGO = (1 << 32) - 1


@dataclass
class Flow:
    mtu: float
    cwnd: float
    ssthresh: float = math.inf
    recovery_start: int | None = None
    in_recovery: bool = False
    # Window, threshold and µs since the response before, while the latest may be taken back.
    undo: tuple[float, float, int] | None = None

    def accepts(self, sent_at: int) -> bool:
        """Whether a packet left after the latest response."""
        return self.recovery_start is None or sent_at > self.recovery_start


def initial_window(mtu: float) -> float:
    """Ten packets, 14,720 bytes at most (RFC 9002 §7.2)."""
    most = 10.0 * 1472.0 * (1.0 + 2.0 * 2.0**-52) / mtu
    return min(10.0, max(most, 2.0))


class Reno:
    name = "reno-in-python"

    def start(self, path: Path) -> Flow:
        return Flow(float(path.mtu), initial_window(float(path.mtu)))

    def step(self, flow: Flow, event: Event) -> None:
        rule = getattr(self, f"on_{event.kind}", None)
        if rule is not None:
            rule(flow, event)

    def on_packets_acked(self, flow: Flow, event: Event) -> None:
        accepted = flow.accepts(event.newest_sent_at_ns)
        grows = not event.app_limited and event.fresh_bytes > 0 and (not flow.in_recovery or accepted)
        if accepted:
            flow.in_recovery = False
        if not grows:
            return
        acked = float(event.packets)
        if acked * flow.mtu != event.fresh_bytes:
            acked = event.fresh_bytes / flow.mtu
        if flow.cwnd >= flow.ssthresh:
            flow.cwnd += acked / flow.cwnd
        elif acked > 1.0 and flow.cwnd + acked > flow.ssthresh:
            # Slow start up to the threshold, congestion avoidance from there.
            used = min(math.ceil((flow.ssthresh - flow.cwnd) * acked / acked), acked)
            reached = flow.cwnd + acked * (used / acked)
            flow.cwnd = min(max(reached, min(flow.ssthresh, flow.cwnd + acked)), LARGEST)
            if acked > used:
                flow.cwnd += (acked - used) / flow.cwnd
        else:
            flow.cwnd += acked
        flow.cwnd = min(flow.cwnd, LARGEST)

    def respond(self, flow: Flow, event: Event) -> None:
        if not flow.accepts(event.newest_sent_at_ns):
            return
        since = LONG_AGO
        if flow.recovery_start is not None:
            since = min((event.now_ns - flow.recovery_start) // 1000, LONG_AGO)
        flow.undo = (flow.cwnd, flow.ssthresh, since)
        flow.cwnd = flow.ssthresh = max(0.5 * flow.cwnd, LEAST)
        flow.recovery_start, flow.in_recovery = event.now_ns, True

    on_packets_lost = respond

    def on_ecn_ce(self, flow: Flow, event: Event) -> None:
        self.respond(flow, event)
        flow.undo = None

    def on_persistent_congestion(self, flow: Flow, event: Event) -> None:
        if flow.accepts(event.newest_sent_at_ns):
            flow.ssthresh = max(0.5 * flow.cwnd, LEAST)
        flow.cwnd, flow.undo = LEAST, None
        flow.recovery_start, flow.in_recovery = None, False

    def on_spurious_loss(self, flow: Flow, event: Event) -> None:
        if flow.undo is None:
            return
        cwnd, ssthresh, since = flow.undo
        if since != LONG_AGO and event.newest_sent_at_ns + 1000 * since <= (flow.recovery_start or 0):
            return
        flow.undo, flow.in_recovery = None, False
        if flow.cwnd <= cwnd:
            flow.cwnd, flow.ssthresh = cwnd, ssthresh

    def on_idle_restart(self, flow: Flow, event: Event) -> None:
        if event.idle_ns > event.pto_ns:
            flow.undo = None
            flow.cwnd = min(flow.cwnd, initial_window(flow.mtu))

    def decide(self, flow: Flow) -> Decision:
        in_slow_start = flow.cwnd < flow.ssthresh
        phase = "recovery" if flow.in_recovery else "slow_start" if in_slow_start else "congestion_avoidance"
        return Decision(
            int(flow.cwnd * flow.mtu),
            ssthresh=int(flow.ssthresh * flow.mtu) if flow.ssthresh < math.inf else None,
            phase=phase,
            recovery_start_ns=flow.recovery_start,
        )
