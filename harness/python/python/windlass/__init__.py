"""Congestion controllers for QUIC: run them in scenarios, write them, and read qlog.

>>> import windlass
>>> results = windlass.run("clean-link", controller="cubic", seed=1)
>>> results.flows[0]["goodput_mbps"]

Tables have the Arrow PyCapsule interface, so that ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and DuckDB
take them without a copy.
"""

from typing import TYPE_CHECKING, Any

from ._native import (
    Decision,
    Error,
    Event,
    Figure,
    Path,
    ReadError,
    Results,
    Table,
    UsageError,
    __version__,
    controllers,
    figure,
    metrics,
    read_qlog,
    run,
)
from .controller import Controller
from .fleet import sweep

if TYPE_CHECKING:
    from .env import Env


def __getattr__(name: str) -> Any:
    # It wants NumPy, which nothing else here does.
    if name == "Env":
        from .env import Env

        return Env
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Controller",
    "Decision",
    "Env",
    "Error",
    "Event",
    "Figure",
    "Path",
    "ReadError",
    "Results",
    "Table",
    "UsageError",
    "__version__",
    "controllers",
    "figure",
    "metrics",
    "read_qlog",
    "run",
    "sweep",
]
