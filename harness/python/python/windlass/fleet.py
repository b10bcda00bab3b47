"""Sweeps, on the cores of this machine or on a cluster."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from ._native import UsageError, measure_cell
from ._native import sweep as _sweep

Engine = Callable[[list[str]], Iterable[tuple[int, str]]]
"""Carries out cells: gets them as texts, and yields the number of each in the list and its record, which ``measure_cell``
gives, anywhere where this version of windlass is installed."""

# A task is this part of all packets: twenty CPUs that are lost in the middle of one lose a hundredth of the work. But it is long
# against the start of a task, and at most a second or two of the simulator.
_TASKS = 2000
_LEAST_WORK = 100_000
_MOST_WORK = 4_000_000

# Tasks at a time, for each CPU there is: none is idle, and what scales clusters sees that there is more to do. All of them are
# lost with the head.
_TASKS_PER_CPU = 2
_FEWEST_TASKS = 4


def sweep(
    plan: str | PathLike[str] | Mapping[str, Any],
    out: str | PathLike[str],
    *,
    store: str | PathLike[str] | None = None,
    engine: Literal["ray"] | Engine | None = None,
    jobs: int = 0,
    retry_failed: bool = False,
) -> dict[str, Any]:
    """Runs every cell of a plan that ``out`` lacks, and writes one dataset of all of them there, as ``windlass sweep`` does.

    plan: a file (TOML), or its keys as a dict, which is then written to plan.toml in ``out``.
    out: a directory for the cells and the dataset: runs, flows and queues as CSV and as Parquet files, and sweep.html.
    store: shares cells with other machines: a directory, or the URL of a folder in an object store, such as
        s3://bucket/folder. For a module that is built with the feature object-store.
    engine: None for the cores of this machine; "ray" for the cluster of Ray that this process is connected to, or that
        RAY_ADDRESS names, or else one of this machine; or a function (see ``windlass.fleet.Engine``).
    jobs: cells at the same time on this machine; 0 for one per core.
    retry_failed: run cells again that failed.

    What is done stays in ``out``: after Ctrl-C or a crash the same call goes on where that one stopped. Returns how many
    cells there are, are done and failed, how many ran now and their CPU time, and the reasons of those that failed. Rows
    are in the order of the plan whatever ran them. Where tqdm is installed it shows how far it is.

    Raises UsageError for a plan with mistakes, Error if a cell cannot be kept or the store not be used, and what the engine raises.
    """
    if engine == "ray":
        engine = on_ray
    elif engine is not None and not callable(engine):
        raise UsageError(f"the engine is {engine!r}; expected None, 'ray' or a function")
    if isinstance(plan, Mapping):
        path, keys = Path(out) / "plan.toml", json.dumps(plan)
    else:
        path, keys = Path(plan), None
    shared = None if store is None else fspath(store)
    with _Bar() as bar:
        return _sweep(path, keys, out, shared, engine, jobs, retry_failed, bar.begin)


class _Bar:
    """A bar of tqdm, or nothing."""

    bar: Any = None

    def begin(self, cells: int) -> Callable[[int], None]:
        try:
            from tqdm.auto import tqdm  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            return lambda over: None
        # On a terminal or in a notebook.
        self.bar = tqdm(total=cells, unit="cell", disable=None)
        return self.show

    def show(self, over: int) -> None:
        self.bar.update(over - self.bar.n)

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def _measured(cells: list[str]) -> list[str]:
    return [measure_cell(cell) for cell in cells]


def _tasks(cells: list[str]) -> Iterator[range]:
    """The numbers of cells that are a task together."""
    works = [json.loads(cell)["work"] for cell in cells]
    enough = min(max(sum(works) / _TASKS, _LEAST_WORK), _MOST_WORK)
    first, work = 0, 0
    for number, more in enumerate(works):
        work += more
        if work >= enough:
            yield range(first, number + 1)
            first, work = number + 1, 0
    if first < len(cells):
        yield range(first, len(cells))


def on_ray(cells: list[str], *, retries: int = 10) -> Iterator[tuple[int, str]]:
    """The engine "ray". Some cells, a second or two of the simulator at most, are a task of one CPU; one whose worker or node dies
    is run again elsewhere, up to ``retries`` times."""
    import ray  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    task = ray.remote(num_cpus=1, max_retries=retries)(_measured)
    left = deque(_tasks(cells))
    running: dict[Any, range] = {}
    try:
        while left or running:
            most = max(_FEWEST_TASKS, _TASKS_PER_CPU * int(ray.cluster_resources().get("CPU", 0)))
            while left and len(running) < most:
                numbers = left.popleft()
                running[task.remote([cells[number] for number in numbers])] = numbers
            for done in ray.wait(list(running))[0]:
                records = ray.get(done)
                yield from zip(running.pop(done), records)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
