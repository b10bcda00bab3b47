"""A flow as an environment for learning, with the interface of Gymnasium."""

from __future__ import annotations

import math
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy

from ._native import Episode, Error, UsageError

try:
    from gymnasium import Env as Base
    from gymnasium.spaces import Box
except ImportError:
    from .spaces import Base, Box  # type: ignore[assignment]

OBSERVATION = (
    "cwnd_packets",
    "in_flight_packets",
    "goodput_mbps",
    "rtt_mean_ms",
    "rtt_min_ms",
    "lost_share",
    "marked_share",
)
"""What the numbers of an observation are, of the latest interval. An interval without an RTT sample has the RTT of the
one before, the first ones that of the empty path."""

LARGEST_WINDOW = 1 << 20


class Env(Base):  # type: ignore[misc]
    """One flow of a scenario in the simulator, whose window an agent sets interval by interval.

    scenario: a file (TOML), or the name of a built-in one. Its end truncates an episode; a flow that has transferred
        all it had to terminates one.
    flow: name of the flow; None for the only one under test.
    controller: of the other flows under test.
    interval_ms: time of a step; None for the RTT of the empty path, and 10 ms at least.
    seed: of the first episode; None for the scenario's. Each reset without a seed takes the next.
    reward: gets the ``info`` of a step and gives its reward; None for the goodput as a share of the rate of the path, less
        the queueing delay in RTTs of the empty path, less ten times the share of packets lost.

    An action is one number from -1 to 1: the window is multiplied by 2 to the power of it, between 2 and 2²⁰ packets.
    An observation is the numbers that ``OBSERVATION`` names, as float32. Equal seeds and actions give equal episodes.

    It is a ``gymnasium.Env`` where Gymnasium is installed, and has the same interface where it is not.
    """

    metadata: dict[str, Any] = {"render_modes": []}
    render_mode = None

    def __init__(
        self,
        scenario: str | PathLike[str] = "clean-link",
        *,
        flow: str | None = None,
        controller: str = "cubic",
        interval_ms: float | None = None,
        seed: int | None = None,
        reward: Callable[[dict[str, Any]], float] | None = None,
    ) -> None:
        self._begin = lambda seed: Episode(scenario, flow=flow, controller=controller, seed=seed)
        self._episode: Episode | None = self._begin(seed)
        self._seed = self._episode.seed
        self._is_fresh = True
        if interval_ms is None:
            interval_ms = max(self._episode.base_rtt_ms, 10.0)
        if not 0 < interval_ms < math.inf:
            raise UsageError(f"interval_ms is {interval_ms}; expected more than 0")
        self.interval_ms = interval_ms
        self._reward = reward or default_reward
        self.action_space = Box(-1.0, 1.0, (1,), numpy.float32)
        self.observation_space = Box(0.0, math.inf, (len(OBSERVATION),), numpy.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[numpy.ndarray, dict[str, Any]]:
        """Begins an episode, with an interval of the initial window of ten packets; its observation and info."""
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._seed = seed
        elif not self._is_fresh:
            self._seed += 1
        self._is_fresh = False
        self._episode = self._begin(self._seed)
        self._cwnd = 10.0
        self._rtt_ms = self._rtt_min_ms = self._episode.base_rtt_ms
        self._has_sample = self._was_active = False
        return self._advance()

    def step(self, action: Any) -> tuple[numpy.ndarray, float, bool, bool, dict[str, Any]]:
        """Goes on for an interval; observation, reward, terminated, truncated, info."""
        if self._episode is None or self._is_fresh:
            raise Error("the episode is over or was not begun; expected reset() before step()")
        exponent = float(numpy.asarray(action, dtype=float).reshape(-1)[0])
        if math.isnan(exponent):
            raise UsageError("the action is not a number; expected -1 to 1")
        factor = 2.0 ** min(max(exponent, -1.0), 1.0)
        self._cwnd = min(max(self._cwnd * factor, 2.0), LARGEST_WINDOW)
        observation, info = self._advance()
        terminated = self._was_active and not info["is_active"] and not info["is_over"]
        truncated = info["is_over"]
        if terminated or truncated:
            self._episode = None
        return observation, float(self._reward(info)), terminated, truncated, info

    def close(self) -> None:
        """Ends the episode."""
        self._episode = None

    def _advance(self) -> tuple[numpy.ndarray, dict[str, Any]]:
        episode = self._episode
        assert episode is not None
        info = episode.advance(int(self._cwnd * episode.mtu), int(self.interval_ms * 1e6))
        self._was_active = self._was_active or info["is_active"]
        if (rtt := info["rtt_mean_ms"]) is not None:
            self._rtt_ms, self._rtt_min_ms = rtt, min(rtt, self._rtt_min_ms if self._has_sample else rtt)
            self._has_sample = True
        acked, lost = info["acked_packets"], info["lost_packets"]
        info |= {
            "seed": self._seed,
            "rate_mbps": episode.rate_mbps,
            "base_rtt_ms": episode.base_rtt_ms,
            "cwnd_packets": self._cwnd,
            "in_flight_packets": info["in_flight_bytes"] / episode.mtu,
            "goodput_mbps": info["acked_bytes"] * 8e-6 / info["interval_s"] if info["interval_s"] > 0 else 0.0,
            "lost_share": lost / max(acked + lost, 1),
            "marked_share": info["marked_packets"] / max(acked, 1),
        }
        seen = info | {"rtt_mean_ms": self._rtt_ms, "rtt_min_ms": self._rtt_min_ms}
        return numpy.array([seen[name] for name in OBSERVATION], dtype=numpy.float32), info


def default_reward(info: dict[str, Any]) -> float:
    """Goodput as a share of the rate of the path, less queueing in RTTs of the empty path, less ten times the share lost."""
    rate, base = info["rate_mbps"], info["base_rtt_ms"]
    goodput = info["goodput_mbps"] / rate if math.isfinite(rate) else info["goodput_mbps"]
    rtt = info["rtt_mean_ms"]
    queueing = max(rtt / base - 1.0, 0.0) if rtt is not None and base > 0 else 0.0
    return float(goodput - queueing - 10.0 * info["lost_share"])
