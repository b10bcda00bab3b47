"""What an environment needs of Gymnasium, where that is not installed."""

from __future__ import annotations

from typing import Any

import numpy


class Base:
    """Without Gymnasium, nothing."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> None: ...


class Box:
    """The part of gymnasium.spaces.Box that says what fits."""

    def __init__(self, low: float, high: float, shape: tuple[int, ...], dtype: Any) -> None:
        self.low, self.high = numpy.full(shape, low, dtype), numpy.full(shape, high, dtype)
        self.shape, self.dtype = shape, numpy.dtype(dtype)
        self._random = numpy.random.default_rng()

    def seed(self, seed: int | None = None) -> None:
        self._random = numpy.random.default_rng(seed)

    def sample(self) -> numpy.ndarray:
        bounded = numpy.isfinite(self.low) & numpy.isfinite(self.high)
        uniform = self._random.uniform(numpy.where(bounded, self.low, 0), numpy.where(bounded, self.high, 1))
        return numpy.where(bounded, uniform, self.low + self._random.exponential(size=self.shape)).astype(self.dtype)

    def contains(self, value: Any) -> bool:
        return value.shape == self.shape and bool(((self.low <= value) & (value <= self.high)).all())
