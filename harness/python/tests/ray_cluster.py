"""Sweeps on a cluster of Ray: a head and two workers, processes of this machine, of which some are killed in the middle.

It prints what each way of running takes, and how many cells a kill lost. Not one of the other tests' environment: it wants Ray."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

PLAN = """
controllers = ["reno", "cubic", "bbr", "copa"]
seeds = {seeds}
[axes]
"dumbbell.rate_mbps" = [5, 10, 20]
"dumbbell.rtt_ms" = [20, 50]
[scenario]
duration_s = 30
sample_ms = 100
[scenario.dumbbell]
buffer_bdp = 1
loss_percent = 0.1
[[scenario.flow]]
controller = "under-test"
"""
SEEDS = int(os.environ.get("WINDLASS_RAY_SEEDS", "417"))
CELLS = 24 * SEEDS
FILES = ("runs.csv", "flows.csv", "queues.csv")
RAY = pathlib.Path(sys.executable).parent / "ray"
PORT = 26379
ADDRESS = f"127.0.0.1:{PORT}"
# What a process waits for a head that is gone: a minute, unless it is told.
ENVIRONMENT = os.environ | {
    "RAY_enable_metrics_collection": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "5",
    "RAY_raylet_client_connect_timeout_milliseconds": "5000",
}
# Every cell that begins, wherever it does, is a byte of a file.
SWEEP = """
    import json, os, sys, time
    import ray, windlass
    begun_cells = os.path.abspath(sys.argv[1] + ".begun")

    def measured(cells):
        records = []
        with open(begun_cells, "ab", buffering=0) as begun:
            for cell in cells:
                begun.write(b".")
                records.append(windlass._native.measure_cell(cell))
        return records

    engine = sys.argv[2] if len(sys.argv) > 2 else None
    if engine:
        windlass.fleet._measured = measured
        ray.init(address={address!r}, log_to_driver=False, logging_level="ERROR")
    begun = time.perf_counter()
    found = windlass.sweep("plan.toml", sys.argv[1], engine=engine)
    print(json.dumps(found | {{"seconds": time.perf_counter() - begun}}, default=str))
"""


class Node:
    """A node of the cluster, killed with all its processes."""

    count = 0

    def __init__(self, directory, *arguments):
        Node.count += 1
        command = [RAY, "start", "--block", "--node-ip-address=127.0.0.1", "--object-store-memory=100000000", *arguments]
        with open(directory / f"node-{Node.count}.log", "w") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, env=ENVIRONMENT
            )

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Cluster(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        (self.directory / "plan.toml").write_text(PLAN.format(seeds=SEEDS))
        (self.directory / "sweep.py").write_text(textwrap.dedent(SWEEP).format(address=ADDRESS))
        self.nodes = []
        self.addCleanup(self.stop)

    def start(self):
        # The head has no part in the work: its CPUs for tasks are none.
        head = ["--head", f"--port={PORT}", "--include-dashboard=false", "--num-cpus=0", "--disable-usage-stats"]
        self.nodes = [Node(self.directory, *head)]
        deadline = time.monotonic() + 120
        # Ports of a head that was killed, and whatever Ray reaches late.
        while subprocess.run([RAY, "status", f"--address={ADDRESS}"], capture_output=True, env=ENVIRONMENT).returncode:
            self.assertLess(time.monotonic(), deadline, "the head does not answer")
            time.sleep(0.5)
        count = f"import ray; ray.init(address={ADDRESS!r}, logging_level='ERROR'); print(int(ray.cluster_resources().get('CPU', 0)))"
        # One after the other: of two nodes that begin at once on one machine one may never join.
        for workers in (b"1", b"2"):
            self.nodes.append(self.worker())
            while subprocess.run([sys.executable, "-c", count], capture_output=True, env=ENVIRONMENT).stdout.strip() != workers:
                self.assertLess(time.monotonic(), deadline, "a worker does not join")
                time.sleep(0.5)

    def worker(self):
        return Node(self.directory, f"--address={ADDRESS}", "--num-cpus=1")

    def stop(self):
        for node in self.nodes:
            node.kill()

    def begin(self, *arguments):
        command = [sys.executable, "sweep.py", *arguments]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.directory, env=ENVIRONMENT
        )

    def end(self, process):
        out, error = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, error)
        return json.loads(out.splitlines()[-1])

    def kept(self, out):
        return len(list((self.directory / out / "cache").glob("*.json")))

    def twice(self, out):
        """Cells that began again, since something was killed."""
        return (self.directory / f"{out}.begun").stat().st_size - CELLS

    def wait(self, process, out, cells):
        while self.kept(out) < cells:
            self.assertIsNone(process.poll(), "it was over before anything was killed")
            time.sleep(0.01)

    def content(self, out):
        return {name: (self.directory / out / name).read_bytes() for name in FILES}

    def test_whatever_is_killed_the_rows_are_those_of_a_local_run(self):
        rows = [("cores of this machine", local := self.end(self.begin("local")), "–")]
        self.assertEqual((local["done"], local["run_now"]), (CELLS, CELLS))

        self.start()
        rows.append(("Ray, two workers", whole := self.end(self.begin("whole", "ray")), 0))
        self.assertEqual((whole["run_now"], self.twice("whole")), (CELLS, 0))

        process = self.begin("worker", "ray")
        self.wait(process, "worker", CELLS // 3)
        self.nodes[1].kill()
        rows.append(("Ray, one of them killed at a third", killed := self.end(process), self.twice("worker")))
        self.assertEqual((killed["done"], killed["run_now"]), (CELLS, CELLS))

        # Without its head a cluster is none: the process ends, and another on another cluster goes on.
        self.stop()
        self.start()
        process = self.begin("head", "ray")
        self.wait(process, "head", CELLS // 3)
        kept = self.lose_head(process, "head")
        again = self.end(self.begin("head", "ray"))
        self.assertEqual((again["done"], again["run_now"]), (CELLS, CELLS - kept))
        rows.append(("Ray, another head after one was killed", again, self.twice("head")))

        for out in ("whole", "worker", "head"):
            self.assertEqual(self.content(out), self.content("local"), out)
        self.assertEqual(self.end(self.begin("head", "ray"))["run_now"], 0)

        speed = {name: found["run_now"] / found["seconds"] for name, found, _ in rows}
        print(f"\n{CELLS} cells\n| | cells a second | of the local run's | CPU time of cells in time of two CPUs | cells lost, and run again |\n|---|--:|--:|--:|--:|")
        for name, found, lost in rows:
            part = 50 * found["cpu_s"] / found["seconds"]
            print(f"| {name} | {speed[name]:.0f} | {100 * speed[name] / speed[rows[0][0]]:.0f} % | {part:.0f} % | {lost} |")

        with self.subTest("twenty kills"):
            self.kill_twenty_times()

    def lose_head(self, process, out):
        """Kills the head, waits for the process to end, and starts another cluster. How many cells are kept."""
        self.nodes[0].kill()
        process.communicate(timeout=300)
        self.assertNotEqual(process.returncode, 0)
        kept = self.kept(out)
        self.stop()
        self.start()
        return kept

    def kill_twenty_times(self):
        """Workers, the process that drives them, and heads, at random moments of a sweep."""
        chance = random.Random(1)
        victims = ["worker"] * 12 + ["process"] * 5 + ["head"] * 3
        chance.shuffle(victims)
        moments = sorted(chance.randrange(CELLS // 50, CELLS * 49 // 50) for _ in victims)
        process = self.begin("twenty", "ray")
        for victim, moment in zip(victims, moments):
            self.wait(process, "twenty", moment)
            if victim == "worker":
                number = chance.choice([1, 2])
                self.nodes[number].kill()
                self.nodes[number] = self.worker()
                continue
            if victim == "head":
                self.lose_head(process, "twenty")
            else:
                process.kill()
                process.communicate()
            process = self.begin("twenty", "ray")
        self.end(process)
        self.assertEqual(self.content("twenty"), self.content("local"))
        twice = self.twice("twenty")
        print(f"\n{CELLS} cells, 12 workers, 5 processes and 3 heads killed: {twice} cells lost, and run again, {100 * twice / CELLS:.2f} %")
        # A task has three of these cells, however few there are.
        self.assertLessEqual(twice, max(CELLS, 10_000) // 100)


if __name__ == "__main__":
    unittest.main()
