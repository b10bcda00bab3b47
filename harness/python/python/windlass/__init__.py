"""Congestion controllers for QUIC: run them in scenarios, and read qlog.

>>> import windlass
>>> results = windlass.run("clean-link", controller="cubic", seed=1)
>>> results.flows[0]["goodput_mbps"]

Tables have the Arrow PyCapsule interface, so that ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and DuckDB
take them without a copy.
"""

from ._native import (
    Error,
    ReadError,
    Results,
    Table,
    UsageError,
    __version__,
    controllers,
    metrics,
    read_qlog,
    run,
)

__all__ = [
    "Error",
    "ReadError",
    "Results",
    "Table",
    "UsageError",
    "__version__",
    "controllers",
    "metrics",
    "read_qlog",
    "run",
]
