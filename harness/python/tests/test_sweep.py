"""Sweeps beside the command's (WINDLASS_COMMAND), and what carries out their cells."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import windlass
from windlass import fleet

COMMAND = os.environ["WINDLASS_COMMAND"]
# Whether the module is built with the feature object-store.
STORES = bool(os.environ.get("WINDLASS_STORES"))
FILES = ("runs.csv", "flows.csv", "queues.csv")
PLAN = {
    "controllers": ["reno", {"name": "copa", "delta": [0.1, 0.5]}],
    "seeds": 3,
    "axes": {"dumbbell.rate_mbps": [5, 10]},
    "scenario": {
        "duration_s": 5,
        "dumbbell": {"rate_mbps": 5, "rtt_ms": 20, "buffer_bdp": 1, "loss_percent": 0.1},
        "flow": [{"controller": "under-test"}],
    },
}
CELLS = 18


def in_order(cells):
    for number, cell in enumerate(cells):
        yield number, fleet.measure_cell(cell)


class Sweeps(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def sweep(self, out, plan=PLAN, **arguments):
        return windlass.sweep(plan, self.directory / out, **arguments)

    def content(self, out):
        return {name: (self.directory / out / name).read_bytes() for name in FILES}

    def test_its_rows_are_the_commands(self):
        found = self.sweep("ours")
        self.assertEqual((found["cells"], found["done"], found["failed"], found["run_now"]), (CELLS, CELLS, 0, CELLS))
        plan, theirs = self.directory / "ours" / "plan.toml", self.directory / "theirs"
        subprocess.run([COMMAND, "sweep", plan, "--out", theirs], check=True, capture_output=True)
        self.assertEqual(self.content("ours"), self.content("theirs"))
        self.assertTrue((self.directory / "ours" / "sweep.html").is_file())
        # The command finds every cell done, and so does Python what the command did.
        self.assertEqual(windlass.sweep(plan, theirs)["run_now"], 0)

    def test_whatever_carries_cells_out_the_rows_are_the_same(self):
        self.sweep("local")

        def backwards(cells):
            return reversed(list(in_order(cells)))

        self.assertEqual(self.sweep("handed", engine=backwards)["run_now"], CELLS)
        self.assertEqual(self.content("handed"), self.content("local"))

    def test_what_an_engine_gave_before_it_failed_is_kept(self):
        def failing(cells):
            for number, record in in_order(cells):
                if number == 7:
                    raise OSError("the cluster is gone")
                yield number, record

        with self.assertRaisesRegex(OSError, "the cluster is gone"):
            self.sweep("out", engine=failing)
        self.assertEqual(self.sweep("out", engine=in_order)["run_now"], CELLS - 7)

    def test_an_engine_is_held_to_what_it_was_asked(self):
        def another_version(cells):
            for number, record in in_order(cells):
                yield number, json.dumps(json.loads(record) | {"key": "0" * 32})

        def too_far(cells):
            yield len(cells), fleet.measure_cell(cells[0])

        def lazy(cells):
            yield from list(in_order(cells))[:4]

        for engine, text in [
            (another_version, "its record came from another version of windlass"),
            (too_far, f"the number {CELLS}; expected one below {CELLS}"),
            (lazy, f"the engine ended without {CELLS - 4} of {CELLS} cells"),
        ]:
            with self.assertRaisesRegex(windlass.Error, text):
                self.sweep(engine.__name__, engine=engine)

    def test_mistakes_are_usage_errors(self):
        for plan, arguments, text in [
            (PLAN | {"seeds": 0}, {}, "seeds is 0; expected how many there are"),
            (PLAN | {"seeds": None}, {}, "the plan: "),
            ("no/such/plan.toml", {}, "cannot read the plan no/such/plan.toml"),
            (PLAN, {"engine": "spark"}, "the engine is 'spark'; expected None, 'ray' or a function"),
        ]:
            with self.assertRaisesRegex(windlass.UsageError, text):
                self.sweep("out", plan, **arguments)
        self.assertFalse((self.directory / "out").exists())

    @unittest.skipIf(STORES, "built with stores")
    def test_a_module_without_stores_says_so(self):
        with self.assertRaisesRegex(windlass.UsageError, "the store s3://bucket/folder: this module was built without"):
            self.sweep("out", store="s3://bucket/folder")
        self.assertFalse((self.directory / "out").exists())

    @unittest.skipUnless(STORES, "built without stores")
    def test_machines_share_a_store(self):
        store = self.directory / "store"
        self.assertEqual(self.sweep("one", store=store)["run_now"], CELLS)
        self.assertEqual(self.sweep("other", store=store.as_uri())["run_now"], 0)
        self.assertEqual(self.content("other"), self.content("one"))
        with self.assertRaisesRegex(windlass.Error, "cannot use the store gopher://bucket/folder: "):
            self.sweep("out", store="gopher://bucket/folder")

    def test_cells_that_failed_are_results_and_run_again_when_asked(self):
        plan = PLAN | {"axes": {"dumbbell.rtt_ms": [20, 0]}}
        found = self.sweep("out", plan)
        self.assertEqual((found["done"], found["failed"]), (CELLS // 2, CELLS // 2))
        [(reason, cells)] = found["reasons"]
        self.assertIn("rtt_ms is 0; expected a number above 0", reason)
        self.assertEqual(cells, CELLS // 2)
        self.assertEqual(self.sweep("out", plan)["run_now"], 0)
        self.assertEqual(self.sweep("out", plan, retry_failed=True)["run_now"], CELLS // 2)

    def test_a_controller_in_python_names_no_cell(self):
        test = self

        class Lent:
            name = "only-lent"

            def start(self, path):
                for plan in [
                    PLAN | {"controllers": "only-lent"},
                    PLAN | {"axes": {"flow.0.controller": ["reno", "only-lent"]}},
                ]:
                    with test.assertRaisesRegex(windlass.UsageError, "only-lent is a controller that this program only lends"):
                        test.sweep("out", plan)
                return path.mtu

            def step(self, state, event):
                pass

            def decide(self, state):
                return windlass.Decision(10 * state)

        windlass.run(controller=Lent())

    def test_ctrl_c_ends_it_and_what_is_done_is_kept(self):
        long = PLAN | {"seeds": 3000, "scenario": PLAN["scenario"] | {"duration_s": 30}}
        # A shell lets what it runs in the background ignore the signal.
        program = textwrap.dedent(f"""
            import signal, windlass
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                windlass.sweep({long!r}, "out")
            except KeyboardInterrupt:
                print("interrupted")
        """)
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=self.directory)
        cache = self.directory / "out" / "cache"
        while not (cache.is_dir() and len(list(cache.iterdir())) > 10):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate()[0], b"interrupted\n")
        self.assertGreater(len(list(cache.glob("*.json"))), 10)


if __name__ == "__main__":
    unittest.main()
