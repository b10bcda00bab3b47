"""Instructions that commands take for files of n and of 4 n parts, by cachegrind; the arguments of ci/costs.

costs.py --write DIRECTORY N [EVERY]: writes a trace of N and of 4 N parts of each kind there, or of every so many kinds, for the cost of its page."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Of the cost of four times as many parts, as a share of four times the cost: n log n has 1.2, the square of n four.
MOST = 1.6
PARTS, PARTS_IN_QUICK = 4000, 500


def record(value):
    return "\x1e" + json.dumps(value) + "\n"


def header(**common):
    return record({"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": "costs",
                   "trace": {"vantage_point": {"type": "server"}, "common_fields": {"ODCID": "aa", **common}}})


def event(time, name, data, **more):
    return record({"time": time, "name": name, "data": data, **more})


def sent(time, number, frames=(), **more):
    return event(time, "transport:packet_sent", {
        "header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200}, "frames": list(frames)}, **more)


def received(time, number, ranges, **more):
    return event(time, "transport:packet_received", {
        "header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 50},
        "frames": [{"frame_type": "ack", "ack_delay": 0, "acked_ranges": ranges}]}, **more)


def stream(identifier, offset=0):
    return {"frame_type": "stream", "stream_id": identifier, "offset": offset, "length": 1000}


def metrics(time, **data):
    return event(time, "recovery:metrics_updated", {"cwnd": 12000, "latest_rtt": 20.0, **data})


def each(one):
    return lambda n: header() + "".join(one(number) for number in range(n))


def transfer(n, begin=0):
    text = ""
    for number in range(begin, begin + n // 3):
        text += sent(number, number, [stream(0, 1000 * number)]) + received(number + 20, number, [[number, number]])
        text += metrics(number + 20, cwnd=12000 + number)
    return text


def in_gaps(n):
    """Every other packet is acknowledged, by frames that repeat all ranges."""
    text = header() + "".join(sent(number, number, [stream(0, 1000 * number)]) for number in range(n))
    return text + received(n, 0, [[number, number] for number in range(0, n, 2)])


def late(n):
    """Nothing is acknowledged until the end, and half of it is lost."""
    text = header() + "".join(sent(number, number, [stream(0, 1000 * number)]) for number in range(n))
    lost = "".join(event(n, "recovery:packet_lost", {"header": {"packet_type": "1RTT", "packet_number": number}})
                   for number in range(0, n, 2))
    return text + lost + "".join(received(n + 1, number, [[number, number]]) for number in range(1, n, 2))


def contained(n):
    traces = [{"vantage_point": {"type": "server"}, "common_fields": {"ODCID": f"{number:x}"}, "events": [
        {"time": 1, "name": "transport:packet_sent", "data": {"header": {"packet_type": "1RTT", "packet_number": 0}}}]}
        for number in range(n // 8)]
    return json.dumps({"qlog_version": "0.3", "qlog_format": "JSON", "traces": traces})


def document(n):
    events = [json.loads(line[1:]) for line in transfer(n).split("\n")[:-1]]
    trace = {"events": events, "vantage_point": {"type": "server"}, "common_fields": {"ODCID": "aa"}}
    return json.dumps({"traces": [trace], "qlog_version": "0.3", "qlog_format": "JSON"})


NETWORK_LOG = json.loads((Path(__file__).resolve().parent.parent / "qlog-analysis/tests/traces/chromium.netlog.json").read_text())


def network_log(n, sessions):
    """Packets of so many sessions of Chromium's, each acknowledged, as the sample has them."""
    types = NETWORK_LOG["constants"]["logEventTypes"]
    sample = {kind: next(event for event in NETWORK_LOG["events"] if event["type"] == types[f"QUIC_SESSION_{kind}"])
              for kind in ("PACKET_SENT", "PACKET_RECEIVED", "UNAUTHENTICATED_PACKET_HEADER_RECEIVED", "ACK_FRAME_RECEIVED")}
    events = []
    for number in range(n // 4):
        source = {**sample["PACKET_SENT"]["source"], "id": 1 + number % sessions(n)}
        told = {"PACKET_SENT": {"packet_number": 1 + number, "sent_time_us": 1000 * (1000 + number)},
                "UNAUTHENTICATED_PACKET_HEADER_RECEIVED": {"packet_number": 1 + number},
                "ACK_FRAME_RECEIVED": {"largest_observed": 1 + number, "smallest_observed": 1 + number}}
        events += [{**event, "source": source, "time": str(1000 + number), "params": {**event["params"], **told.get(kind, {})}}
                   for kind, event in sample.items()]
    return json.dumps({**NETWORK_LOG, "events": events})


# Files by what there is much of.
TRACES = {
    "a transfer": lambda n: header() + transfer(n),
    "a network log": lambda n: network_log(n, lambda _: 1),
    "sessions of a network log": lambda n: network_log(n, lambda n: n // 8),
    "a document, its header behind the events": document,
    "congestion states": each(lambda i: event(i, "recovery:congestion_state_updated", {"new": f"state {i}"})),
    "names of events": each(lambda i: event(i, f"x:event_{i}", {})),
    "names of fields": each(lambda i: metrics(i, **{f"field_{i}": i})),
    "connections": lambda n: header() + "".join(sent(i, 0, group_id=f"{i:x}") for i in range(n // 8)),
    "paths": lambda n: header() + "".join(sent(i, 0, path=str(i)) for i in range(n // 8)),
    "addresses": each(lambda i: event(i, "connectivity:connection_started", {"dst_ip": f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}", "dst_port": 443})),
    "streams": each(lambda i: sent(i, i, [stream(4 * i)])),
    "requests": each(lambda i: event(i, "http:frame_created", {"stream_id": 4 * i, "frame": {"frame_type": "headers", "headers": [{"name": ":path", "value": f"/{i}"}]}})),
    "ranges of an ACK": in_gaps,
    "packets in flight": late,
    "ACKs of the same": lambda n: header() + sent(0, 0) + "".join(received(i + 1, i, [[0, 0]]) for i in range(n)),
    "times that go back": each(lambda i: sent(1000 * (i % 2) + i, i)),
    "records that are none": each(lambda i: f"\x1e{{\"time\":{i},\"name\":\n"),
    "bytes of a text": lambda n: header() + event(0, "x:y", {"text": "x" * (100 * n)}) + transfer(9),
    "arrays in arrays": lambda n: header() + "\x1e" + "[" * (10 * n) + "\n" + transfer(9),
    "traces of a document": contained,
    "sequences appended": lambda n: "".join(header(ODCID=f"{i:x}") + sent(0, 0) for i in range(n // 8)),
}
SCENARIO = "duration_s = 0.01\nsample_ms = 5\n[dumbbell]\nrate_mbps = 5\nrtt_ms = 20\nbuffer_bdp = 1\n"
SCENARIOS = {
    "unknown keys": lambda n: SCENARIO + "".join(f"key_{i} = 1\n" for i in range(n)) + "[[flow]]\ncontroller = \"reno\"\n",
    "values out of range": lambda n: SCENARIO + "[[flow]]\ncontroller = \"reno\"\nstart_s = -1\n" * (n // 4),
    "flows": lambda n: SCENARIO + "".join(f"[[flow]]\nname = \"f{i}\"\ncontroller = \"reno\"\nstart_s = 0.009\n" for i in range(n // 8)),
}
READERS = {
    "info": ["qlog", "info", "FILE"],
    "lint": ["qlog", "lint", "FILE"],
    "metrics": ["qlog", "metrics", "--sharing", "FILE"],
    "report": ["qlog", "report", "FILE", "--out", "OUT"],
    "convert --to qvis": ["qlog", "convert", "--to", "qvis", "--framing", "json", "FILE", "--out", "OUT"],
    "convert --to ietf": ["qlog", "convert", "--to", "ietf", "FILE", "--out", "OUT"],
    "compare": ["qlog", "compare", "--by", "file", "FILE", "FILE2", "--format", "csv"],
    "identify": ["qlog", "identify", "FILE"],
    "replay": ["qlog", "replay", "-c", "reno", "FILE"],
    # Of a build with `parquet`, so not in `ci/costs quick`.
    "parquet": ["qlog", "parquet", "FILE", "--out", "OUT"],
}
# In `ci/costs quick`: what reads, measures, draws and writes has every fourth kind of files, what writes traces every sixth; the
# others share every second one.
QUICK = {"report": 4, "convert --to qvis": 6}


def jobs(quick, command):
    """The commands with the kinds of files they read: name, arguments, kind, what makes a file of n parts."""
    kinds = list(TRACES.items())
    readers = [reader for reader in READERS if not (quick and reader == "parquet")]
    others = [reader for reader in readers if reader not in QUICK]
    for reader in readers:
        own = kinds
        if quick and reader in QUICK:
            own = kinds[:: QUICK[reader]]
        elif quick:
            own = kinds[::2][others.index(reader)::len(others)]
        yield from ((f"qlog {reader}", READERS[reader], kind, text) for kind, text in own)
    yield from (("run", ["run", "SCENARIO", "--jobs", "1"], kind, text) for kind, text in SCENARIOS.items())
    yield "report", ["report", "RESULTS", "--out", "OUT"], "flows of a result", command.results


class Command:
    def __init__(self, binary, place):
        # Its symbols are most of what valgrind reads before it begins.
        self.binary = str(Path(place, "windlass"))
        subprocess.run(["strip", "-o", self.binary, binary], check=True)
        self.known = {}

    def results(self, n):
        """The results of a run of as many flows."""
        with tempfile.TemporaryDirectory() as place:
            Path(place, "costs.toml").write_text(SCENARIOS["flows"](max(n, 8)))
            subprocess.run([self.binary, "run", "costs.toml", "--out", "out", "--qlog-detail", "off"], cwd=place,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
            return Path(place, "out/results.json").read_text()

    def once(self, arguments, text):
        """Instructions for a file that several kinds have: the empty one."""
        key = (*arguments, text)
        if key not in self.known:
            self.known[key] = self.instructions(arguments, text)
        return self.known[key]

    def instructions(self, arguments, text):
        """Instructions of the command with `text` as its file, and what it said."""
        with tempfile.TemporaryDirectory() as place:
            names = {"FILE": "costs.sqlog", "FILE2": "other.sqlog", "SCENARIO": "costs.toml", "RESULTS": "costs.json", "OUT": "out"}
            for name in ["FILE", "FILE2", "SCENARIO", "RESULTS"]:
                if name in arguments:
                    Path(place, names[name]).write_text(text)
            run = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", self.binary]
            # One thread, so that there is one count.
            environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
            ended = subprocess.run(run + [names.get(one, one) for one in arguments], cwd=place, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        said = ended.stderr.decode(errors="replace")
        counted = re.findall(r"I\s+refs:\s+([\d,]+)", said)
        if not counted or "was built without" in said or ended.returncode not in (0, 1, 2, 3):
            sys.exit(f"ci/costs: {' '.join(arguments)} ended with {ended.returncode}: {said[-2000:]}")
        return int(counted[-1].replace(",", ""))


def main():
    if sys.argv[1] == "--write":
        return write(Path(sys.argv[2]), int(sys.argv[3]), *map(int, sys.argv[4:]))
    binary, quick = sys.argv[1], "quick" in sys.argv[2:]
    with tempfile.TemporaryDirectory() as place:
        judge(Command(binary, place), quick)


def write(directory, n, every=1):
    for number, (kind, text) in list(enumerate(TRACES.items()))[::every]:
        for parts in (n, 4 * n):
            Path(directory, f"{number:02}-{kind.replace(' ', '-').replace(',', '')}-{parts}.sqlog").write_text(text(parts))


def judge(command, quick):
    parts = PARTS_IN_QUICK if quick else PARTS
    wrong, passed = [], 0
    for name, arguments, kind, text in jobs(quick, command):
        none = command.once(arguments, text(0))
        few, many = (command.instructions(arguments, text(n)) for n in (parts, 4 * parts))
        least = 2e6  # Less is the difference of two runs.
        share = (many - none) / max(4 * (few - none), least)
        print(f"{share:5.2f}  {(many - none) / 1e6:9.1f} million  {name}: {kind}", flush=True)
        passed += share <= MOST
        if share > MOST:
            wrong.append(f"{name}: {kind}: {share:.2f} of four times the instructions for four times as many")
    if wrong:
        sys.exit("ci/costs: " + "\nci/costs: ".join(wrong))
    print(f"{passed} passed, 0 failed")


main()
