"""The module as a user has it, beside the command (WINDLASS_COMMAND)."""

import csv
import io
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import pyarrow

import windlass

COMMAND = os.environ["WINDLASS_COMMAND"]
README = pathlib.Path(__file__).parent.parent / "README.md"

# Takes minutes, unless something ends it.
ENDLESS = """
name = "endless"
duration_s = 20000
sample_ms = 10000

[dumbbell]
rate_mbps = 50
rtt_ms = 20
buffer_bdp = 1

[[flow]]
name = "flow"
controller = "reno"
"""


def command(*arguments):
    """What the command prints; its error's text where it fails."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.removeprefix("error: ").rstrip("\n")
    return done.stdout


class Runs(unittest.TestCase):
    def test_json_is_the_commands_byte_for_byte(self):
        for scenario, controller, stack, seed in [
            ("clean-link", "cubic", "sim", 7),
            ("clean-link", "reno:iw=20", "quinn", 1),
            ("random-loss", "bbr", "sim", 3),
            ("clean-link", "cubic", "s2n-quic", 5),
        ]:
            with self.subTest(scenario=scenario, controller=controller, stack=stack):
                ours = windlass.run(scenario, controller=controller, stack=stack, seed=seed)
                theirs = command("run", scenario, "-c", controller, "--stack", stack, "--seed", seed, "--json")
                self.assertEqual(ours.json(), theirs)

    def test_measures_of_flows_are_those_of_the_commands_json(self):
        ours = windlass.run("clean-link", controller=["reno", "cubic"], seed=2)
        theirs = json.loads(command("run", "clean-link", "-c", "reno,cubic", "--seed", "2", "--json"))
        self.assertEqual(ours.flows, [flow for run in theirs["runs"] for flow in run["flows"]])
        self.assertEqual(ours.queues, [queue for run in theirs["runs"] for queue in run["queues"]])
        table = pyarrow.table(ours.tables["flows"])
        self.assertEqual(table["goodput_mbps"].to_pylist(), [flow["goodput_mbps"] for flow in ours.flows])

    def test_another_seed_gives_other_numbers(self):
        one, other = (windlass.run("random-loss", controller="reno", seed=seed) for seed in (1, 2))
        self.assertNotEqual(one.flows, other.flows)

    def test_errors_have_the_text_of_the_command(self):
        for arguments, typed in [
            ({"scenario": "clean-lnk"}, ["clean-lnk"]),
            ({"scenario": "no/such.toml"}, ["no/such.toml"]),
            ({"controller": "cubicc"}, ["-c", "cubicc"]),
            ({"controller": "cubic:beta=2"}, ["-c", "cubic:beta=2"]),
            ({"stack": "quin"}, ["--stack", "quin"]),
            ({"controller": "native:none", "stack": "quinn"}, ["-c", "native:none", "--stack", "quinn"]),
        ]:
            with self.subTest(**arguments), self.assertRaises(windlass.UsageError) as raised:
                windlass.run(**arguments)
            self.assertEqual(str(raised.exception), command("run", *typed))

    def test_a_mistake_in_a_scenario_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "wrong.toml"
            path.write_text(ENDLESS.replace("rtt_ms = 20", "rtt_ms = -20"))
            with self.assertRaisesRegex(windlass.UsageError, r"wrong\.toml:8.*rtt_ms"):
                windlass.run(path)

    def test_ctrl_c_ends_a_run(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "endless.toml"
            path.write_text(ENDLESS)
            program = f"import windlass; print('begun', flush=True); windlass.run({str(path)!r})"
            # A job in the background of a shell ignores SIGINT, and so would the child.
            before = signal.signal(signal.SIGINT, signal.default_int_handler)
            self.addCleanup(signal.signal, signal.SIGINT, before)
            with subprocess.Popen(
                [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as child:
                child.stdout.readline()
                time.sleep(0.5)
                self.assertIsNone(child.poll())
                child.send_signal(signal.SIGINT)
                _, errors = child.communicate(timeout=60)
            self.assertIn("KeyboardInterrupt", errors)

    def test_other_threads_go_on_during_a_run(self):
        ran = threading.Event()
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "endless.toml"
            path.write_text(ENDLESS.replace("duration_s = 20000", "duration_s = 200"))
            count, counts = 0, []

            def go_on():
                nonlocal count
                while not ran.is_set():
                    count += 1
                    time.sleep(0)

            thread = threading.Thread(target=go_on)
            thread.start()
            before = count
            windlass.run(path)
            counts.append(count - before)
            ran.set()
            thread.join()
        self.assertGreater(counts[0], 100)


class Controllers(unittest.TestCase):
    def test_every_controller_with_its_parameters_as_the_command_lists_it(self):
        ours = windlass.controllers()
        self.assertEqual([one["name"] for one in ours], [one["name"] for one in json.loads(command("list", "--json"))])
        for one in ours:
            self.assertEqual(one, json.loads(command("list", one["name"], "--json")))
            self.assertTrue(one["summary"])


class Traces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        windlass.run("clean-link", controller="cubic", seed=1, out=pathlib.Path(cls.directory.name) / "results")
        cls.files = sorted(pathlib.Path(cls.directory.name).rglob("*.sqlog"))

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_metrics_are_the_commands(self):
        table = pyarrow.table(windlass.metrics(self.files))
        rows = list(csv.DictReader(io.StringIO(command("qlog", "metrics", "--format", "csv", *self.files))))
        self.assertGreater(table.num_rows, 0)
        self.assertEqual(table.num_rows, len(rows))
        numbers = 0
        for ours, theirs in zip(table.to_pylist(), rows):
            self.assertEqual(ours["controller"], theirs["controller"])
            for name, value in ours.items():
                if isinstance(value, float):
                    self.assertEqual(value, float(theirs[name]), name)
                    numbers += 1
        self.assertGreater(numbers, 10)
        self.assertTrue(pyarrow.table(windlass.metrics(self.directory.name)).equals(table))

    def test_every_packet_of_a_trace_is_a_row(self):
        tables = windlass.read_qlog(self.files[0])
        packets = pyarrow.table(tables["packets"])
        lines = self.files[0].read_text().splitlines()
        names = [json.loads(line.lstrip("\x1e")).get("name", "") for line in lines if line.strip()]
        for event in ("sent", "received", "lost"):
            expected = sum(name.endswith(f":packet_{event}") for name in names)
            self.assertEqual(packets["event"].to_pylist().count(event), expected, event)
        self.assertGreater(packets.num_rows, 1 << 15)
        self.assertEqual(len(tables["packets"]), packets.num_rows)
        updates = sum(name.endswith((":metrics_updated", ":recovery_metrics_updated")) for name in names)
        self.assertEqual(len(tables["recovery"]), updates)
        everything = sum(len(tables[name]) for name in ("packets", "recovery", "events"))
        self.assertEqual(everything, sum(bool(name) for name in names))
        self.assertTrue(pyarrow.table(tables["metrics"]).equals(pyarrow.table(windlass.metrics(self.files[0]))))

    def test_figures_are_the_commands_byte_for_byte(self):
        with tempfile.TemporaryDirectory() as directory:
            command("qlog", "report", self.files[0], "--svg", directory)
            (theirs,) = pathlib.Path(directory).glob("*.svg")
            figure = windlass.figure(self.files[0])
            self.assertEqual(figure.svg, [theirs.read_text()])
            self.assertIn(figure.svg[0], figure._repr_html_())
            empty = pathlib.Path(directory) / "empty.sqlog"
            empty.write_text(self.files[0].read_text().splitlines(keepends=True)[0])
            with self.assertRaises(windlass.Error) as raised:
                windlass.figure(empty)
            self.assertIn("nothing to draw", str(raised.exception))

    def test_tables_outlive_what_made_them_and_can_be_taken_twice(self):
        recovery = windlass.read_qlog(self.files[0])["recovery"]
        one = pyarrow.table(recovery)
        self.assertTrue(one.equals(pyarrow.table(recovery)))
        self.assertEqual(pyarrow.schema(recovery), one.schema)
        del recovery
        windows = [value for value in one["cwnd"].to_pylist() if value is not None]
        self.assertGreater(len(windows), 0)
        self.assertFalse(any(math.isnan(value) or value <= 0 for value in windows))

    def test_files_that_cannot_be_read_are_errors_with_the_text_of_the_command(self):
        with tempfile.TemporaryDirectory() as directory:
            empty, wrong = pathlib.Path(directory) / "empty", pathlib.Path(directory) / "wrong.sqlog"
            empty.mkdir()
            wrong.write_text("no qlog\n")
            for path in (wrong, empty, pathlib.Path(directory) / "absent.sqlog"):
                text = command("qlog", "metrics", path)
                with self.subTest(path=path), self.assertRaises(windlass.ReadError) as raised:
                    windlass.metrics(path)
                self.assertEqual(str(raised.exception), text)
                with self.subTest(path=path), self.assertRaises(windlass.ReadError) as raised:
                    windlass.read_qlog(path)
                self.assertEqual(str(raised.exception), text)
            # One bad file among good ones is no silence.
            with self.assertRaises(windlass.ReadError):
                windlass.metrics([*self.files, wrong])


class Readme(unittest.TestCase):
    def test_its_example_is_the_one_that_runs(self):
        example = (pathlib.Path(__file__).parent / "first_example.py").read_text()
        shown = re.search(r"```python\n(.*?)```", README.read_text(), re.S)[1]
        self.assertEqual(shown, example.split("\n\n", 1)[1])
        printed = subprocess.run(
            [sys.executable, "-c", example], capture_output=True, text=True, check=True
        ).stdout
        self.assertIn(f"```text\n{printed}```", README.read_text())


if __name__ == "__main__":
    unittest.main()
