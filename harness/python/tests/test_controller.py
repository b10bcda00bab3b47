"""Controllers written in Python, beside the catalogue's."""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import traceback
import unittest

import pyarrow

import windlass
from reno import Reno


class Fixed:
    """A window that never changes; its state is what it has seen."""

    def __init__(self, packets=10, **attributes):
        self.packets = packets
        vars(self).update(attributes)

    def start(self, path):
        return {"mtu": path.mtu, "kinds": set()}

    def step(self, state, event):
        state["kinds"].add(event.kind)

    def decide(self, state):
        return windlass.Decision(self.packets * state["mtu"])


def qlogs(controller, scenario, **arguments):
    """The qlog files of a run by their names, without the controller's."""
    name = getattr(controller, "name", controller)
    with tempfile.TemporaryDirectory() as directory:
        windlass.run(scenario, controller=controller, out=pathlib.Path(directory) / "out", **arguments)
        files = sorted(pathlib.Path(directory).rglob("*.sqlog"))
        return {path.name: path.read_bytes().replace(name.encode(), b"NAME") for path in files}


class RenoInPython(unittest.TestCase):
    def test_its_traces_are_those_of_the_catalogues_reno_byte_for_byte(self):
        for scenario, seed in [
            ("clean-link", 1),
            ("random-loss", 3),
            ("against-cubic", 1),
            ("ecn-queue", 1),
            ("bursts", 1),
            ("handover", 2),
            ("wifi-batches", 1),
        ]:
            with self.subTest(scenario=scenario):
                ours, theirs = qlogs(Reno(), scenario, seed=seed), qlogs("reno", scenario, seed=seed)
                self.assertGreater(sum(map(len, theirs.values())), 100_000)
                self.assertEqual(ours, theirs)

    def test_its_measures_are_those_of_the_catalogues_reno(self):
        ours, theirs = (windlass.run("random-loss", controller=one, seed=5) for one in (Reno(), "reno"))
        text = ours.json().replace("reno-in-python", "reno")
        ours, theirs = json.loads(text), json.loads(theirs.json())
        self.assertEqual(ours["runs"], theirs["runs"])

    def test_another_rule_gives_another_trace(self):
        class Gentle(Reno):
            def respond(self, flow, event):
                before = flow.cwnd
                super().respond(flow, event)
                if flow.recovery_start == event.now_ns:
                    flow.cwnd = flow.ssthresh = 0.8 * before

            on_packets_lost = respond

        self.assertNotEqual(qlogs(Gentle(), "random-loss", seed=3), qlogs("reno", "random-loss", seed=3))


class Contract(unittest.TestCase):
    def test_one_run_has_controllers_of_both_kinds_in_their_order(self):
        results = windlass.run("clean-link", controller=["cubic", Fixed(20), Reno()], seed=1)
        self.assertEqual([run["controller"] for run in results.runs], ["cubic", "fixed", "reno-in-python"])
        self.assertEqual(pyarrow.table(results.tables["runs"])["controller"].to_pylist()[1], "fixed")
        flow = results.runs[1]["flows"][0]
        self.assertEqual((flow["cwnd_mean_packets"], flow["packets_lost"]), (20.0, 0))

    def test_it_runs_in_real_stacks_too(self):
        ours, theirs = (windlass.run("clean-link", controller=one, stack="quinn", seed=1) for one in (Reno(), "reno"))
        ours, theirs = (run.runs[0]["flows"][0] for run in (ours, theirs))
        self.assertEqual(ours["packets_sent"], theirs["packets_sent"])
        self.assertEqual(ours["goodput_mbps"], theirs["goodput_mbps"])

    def test_an_event_says_what_it_tells_and_none_for_the_rest(self):
        seen = []

        class Watching(Fixed):
            def step(self, state, event):
                seen.append(event)

        windlass.run("random-loss", controller=Watching(wants_packet_sent=True), seed=1)
        kinds = {event.kind: event for event in seen}
        self.assertLessEqual({"packets_acked", "packets_lost", "packet_sent", "rtt_sampled"}, set(kinds))
        acked, lost, sent = (kinds[name] for name in ("packets_acked", "packets_lost", "packet_sent"))
        self.assertEqual(acked.in_flight_before, acked.in_flight + acked.bytes)
        self.assertIsNone(acked.trigger)
        self.assertIn(lost.trigger, ("packet_threshold", "time_threshold"))
        self.assertEqual((lost.rtt_ns, lost.app_limited, lost.idle_ns, lost.mtu), (None, None, None, None))
        self.assertEqual((sent.packets, sent.newest_sent_at_ns), (None, None))
        self.assertGreater(kinds["rtt_sampled"].min_rtt_ns, 0)
        self.assertEqual(acked.as_dict()["kind"]["packets_acked"]["delivered"], acked.delivered)
        times = [event.now_ns for event in seen]
        self.assertEqual(times, sorted(times))

    def test_it_is_woken_and_paces_as_it_decides(self):
        woken = []

        class Paced(Fixed):
            def step(self, state, event):
                if event.kind == "timer_expired":
                    woken.append(event.now_ns)

            def decide(self, state):
                wake_at_ns = 100_000_000 * (len(woken) + 1)
                return windlass.Decision(100 * state["mtu"], pacing_rate=5_000_000, wake_at_ns=wake_at_ns)

        flow = windlass.run("clean-link", controller=Paced(), seed=1).flows[0]
        self.assertLess(flow["goodput_mbps"], 5.0)
        self.assertGreater(flow["goodput_mbps"], 4.5)
        self.assertEqual(woken[:3], [100_000_000, 200_000_000, 300_000_000])

    def test_an_encoder_follows_its_target_rate(self):
        scenario = """
            duration_s = 20
            [dumbbell]
            rate_mbps = 10
            rtt_ms = 50
            [[flow]]
            controller = "under-test"
            application_mbps = 8
            frames_per_s = 20
            encoder_least_mbps = 0.3
            encoder_share = 0.5
        """

        class Encoded(Fixed):
            def decide(self, state):
                return windlass.Decision(100 * state["mtu"], pacing_rate=9_000_000, target_rate=self.target_rate)

        def goodput_mbps(target_rate):
            return windlass.run(file, controller=Encoded(target_rate=target_rate), seed=1).flows[0]["goodput_mbps"]

        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "encoder.toml"
            file.write_text(textwrap.dedent(scenario))
            self.assertAlmostEqual(goodput_mbps(2_000_000), 1.0, delta=0.1)
            self.assertAlmostEqual(goodput_mbps(6_000_000), 3.0, delta=0.3)

    def test_it_satisfies_the_protocol(self):
        self.assertIsInstance(Reno(), windlass.Controller)
        self.assertNotIsInstance("reno", windlass.Controller)

    def test_needs_are_held_against_the_stack(self):
        marks = Fixed(needs=["delivery-rate samples"])
        self.assertEqual(len(windlass.run("clean-link", controller=marks, seed=1).runs), 1)
        with self.assertRaisesRegex(windlass.UsageError, "fixed needs router queueing times; quinn does not report"):
            windlass.run("clean-link", controller=Fixed(needs=["router queueing times"]), stack="quinn")
        with self.assertRaisesRegex(windlass.UsageError, "needs has 'marks'|needs has \"marks\"; expected some of acknowledgements"):
            windlass.run("clean-link", controller=Fixed(needs=["marks"]))

    def test_decisions_say_what_is_wrong_with_them(self):
        with self.assertRaisesRegex(windlass.UsageError, 'phase is "fast"; expected slow_start or'):
            windlass.Decision(1, phase="fast")
        with self.assertRaisesRegex(windlass.UsageError, 'ecn is "ce"; expected ect0 or ect1 or not-ect'):
            windlass.Decision(1, ecn="ce")
        with self.assertRaises(OverflowError):
            windlass.Decision(-1)
        with self.assertRaises(TypeError):
            windlass.Decision(1.5)


class Failing(unittest.TestCase):
    def raised(self, **methods):
        broken = type("Broken", (Fixed,), methods)
        try:
            windlass.run("clean-link", controller=[broken(), "reno"])
        except Exception as error:
            return error
        self.fail("nothing was raised")

    def test_an_exception_comes_out_with_its_traceback(self):
        def fail(self, state, event):
            raise LookupError("no such thing")

        error = self.raised(step=fail)
        self.assertIs(type(error), LookupError)
        self.assertIn("raise LookupError", "".join(traceback.format_exception(error)))
        for method in ("start", "decide"):
            with self.subTest(method=method):
                self.assertIs(type(self.raised(**{method: lambda *_: 1 // 0})), ZeroDivisionError)

    def test_another_decision_than_a_decision_is_an_error(self):
        error = self.raised(decide=lambda self, state: 12000)
        self.assertEqual(str(error), "broken: decide returned an object of type int; expected windlass.Decision")

    def test_after_an_exception_the_name_is_free_and_the_next_run_goes_well(self):
        self.raised(decide=lambda self, state: None)
        fine = type("Broken", (Fixed,), {})
        self.assertEqual(windlass.run("clean-link", controller=fine()).runs[0]["controller"], "broken")

    def test_what_is_no_controller_is_refused(self):
        for controller, text in [
            (Reno, "expected an object of that class, not the class"),
            (type("Half", (), {"decide": len, "step": len})(), "has no method start; expected start, step and decide"),
            (Fixed(name="cubic"), 'there is a controller "cubic" already; expected another name'),
            (Fixed(name="My Reno"), '"My Reno" is no name of a controller'),
            ([Fixed(1), Fixed(2)], 'there is a controller "fixed" already; expected another name'),
        ]:
            with self.subTest(text=text), self.assertRaisesRegex(windlass.UsageError, text):
                windlass.run("clean-link", controller=controller)
        with self.assertRaises(TypeError):
            windlass.run("clean-link", controller=7)

    def test_ctrl_c_ends_a_run_in_the_middle_of_python(self):
        program = """
            import sys, windlass
            sys.path.insert(0, {tests!r})
            from reno import Reno
            print("begun", flush=True)
            windlass.run({scenario!r}, controller=Reno())
        """
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "endless.toml"
            path.write_text("duration_s = 20000\nsample_ms = 10000\n[dumbbell]\nrate_mbps = 50\nrtt_ms = 20\nbuffer_bdp = 1\n"
                            "[[flow]]\ncontroller = \"under-test\"\n")
            text = textwrap.dedent(program).format(tests=str(pathlib.Path(__file__).parent), scenario=str(path))
            before = signal.signal(signal.SIGINT, signal.default_int_handler)
            self.addCleanup(signal.signal, signal.SIGINT, before)
            with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
                child.stdout.readline()
                try:
                    child.wait(1)
                except subprocess.TimeoutExpired:
                    child.send_signal(signal.SIGINT)
                _, errors = child.communicate(timeout=60)
            self.assertIn("KeyboardInterrupt", errors)

    def test_two_threads_run_controllers_of_two_names(self):
        found = {}

        def one(packets):
            controller = Fixed(packets, name=f"fixed-{packets}")
            found[packets] = windlass.run("clean-link", controller=controller).flows[0]["cwnd_mean_packets"]

        threads = [threading.Thread(target=one, args=(packets,)) for packets in (5, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {5: 5.0, 9: 9.0})


if __name__ == "__main__":
    unittest.main()
