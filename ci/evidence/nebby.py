"""Linux' congestion controllers as Nebby captured them, beside ours, and what `windlass qlog identify` says of the captures.

Writes a row for each capture, and prints the tables of docs/nebby.md. The captures are NUS-SNL/Nebby's (MIT), in its folder
`sensitivity`, and no part of this repository. Run by hand, with a checkout of theirs or a bare repository:

    git clone https://github.com/NUS-SNL/Nebby && git -C Nebby checkout e21e193
    python3 ci/evidence/nebby.py Nebby target/release/windlass docs/nebby.csv
"""

import bisect
import collections
import concurrent.futures
import csv
import io
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

DELAYS, RATES = (15, 25, 35, 45, 95), (50, 100, 200, 400)
# Linux' module, and ours with the parameters of the module where ours have others (docs/oracle.md).
OURS = {
    "bic": "bic:profile=linux", "cubic": "cubic:alpha_rises=off,slow_start=standard", "htcp": "h-tcp", "highspeed": "highspeed:form=table,growth=acks",
    "scalable": "scalable:a=0.0196,growth=acks", "vegas": "vegas:alpha=2,beta=4,first_loss=0.5", "westwood": "westwood:never_rises=off",
    "lp": "tcp-lp:exit_slow_start=off", "dctcp": "dctcp", "reno": "reno", "bbr": "bbr1",
}
ALL = (*OURS, "cdg", "hybla", "illinois", "nv", "veno", "yeah")
# The right answer of `identify`: nothing is marked, so that DCTCP is Reno; both versions of BBR are `bbr`.
RIGHT = {cca: controller.partition(":")[0] for cca, controller in OURS.items()} | {"dctcp": "reno", "bbr": "bbr"}
# Seconds looked at, and of start-up; bytes of a segment; packets that an opportunity of the link carries.
SECONDS, START_UP, PAYLOAD, OPPORTUNITY = 30, 6, 48, 14
MEASURES = ("period", "beta", "peak", "mean", "probe_rtts", "cycle")
# A packet of 100 bytes is 104 to Mahimahi, which lets 1504 bytes go at each opportunity and has two buffers of a BDP in bytes.
# The flow starts when what the way back let go arrives, as after a handshake. The receiver's kernel joins what comes at once
# (GRO) and acknowledges it together, as many packets as the capture shows.
SCENARIO = """duration_s = 30.5
packet_bytes = 76
ack_bytes = 28
link = [
  {{ name = "near", delay_ms = {delay} }},
  {{ name = "forth", capacity = {{ file = "link.trace", scale = 1.0026667 }}, buffer_bytes = {buffer}, delay_ms = 12 }},
  {{ name = "back", capacity = {{ file = "link.trace", scale = 1.0026667 }}, buffer_bytes = {buffer}, delay_ms = {delay} }},
]
[[flow]]
controller = "under-test"
start_s = {start}
route = ["near", "forth"]
return_route = ["back"]
pacing = false
ack = "delayed"
ack_every_packets = {each}
max_ack_delay_ms = 1
"""


def captured(text):
    """Events of a capture in packets: (s, "sent", first, bytes) and (s, "acked", all before, is it empty-handed)."""
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["tcp.seq"]]
    sender = collections.Counter(row["tcp.srcport"] for row in rows if int(row["tcp.len"] or 0) > 0).most_common(1)[0][0]
    events = []
    for row in rows:
        time, size = float(row["frame.time_relative"]), int(row["tcp.len"] or 0)
        if row["tcp.srcport"] == sender and size > 0:
            events.append((time, "sent", (int(row["tcp.seq"]) - 1) // PAYLOAD, int(row["frame.len"])))
        elif row["tcp.dstport"] == sender and events:
            events.append((time, "acked", (int(row["tcp.ack"]) - 1) // PAYLOAD, size == 0))
    return [(time - events[0][0], *rest) for time, *rest in events]


def simulated(path):
    """The same events of a qlog file of the simulator."""
    events, carried, arrived, edge = [], {}, set(), 0
    for line in path.read_text().split("\x1e")[1:]:
        event = json.loads(line)
        name, data = event.get("name"), event.get("data", {})
        if name == "quic:packet_sent" and data["frames"] and "offset" in data["frames"][0]:
            carried[data["header"]["packet_number"]] = data["frames"][0]["offset"] // data["raw"]["length"]
            events.append((event["time"] / 1000, "sent", carried[data["header"]["packet_number"]], data["raw"]["length"]))
        elif name == "quic:packet_received":
            for ranges in data["frames"][0]["acked_ranges"]:
                arrived.update(carried[number] for number in range(ranges[0], ranges[-1] + 1))
            edge = next(number for number in itertools.count(edge) if number not in arrived)
            events.append((event["time"] / 1000, "acked", edge, True))
    return [(time - events[0][0], *rest) for time, *rest in events]


def measure(events, is_bbr):
    """Figures of the packets from the first not acknowledged to the last sent, after start-up."""
    top = edge = 0
    sent, smallest, points, recovery, reductions, first_duplicate = {}, 9.0, [], None, [], None
    for time, kind, packet, _ in events:
        if time > SECONDS:
            break
        if kind == "sent" and packet >= top:
            sent[packet], top = time, packet + 1
        elif kind == "sent":
            sent.pop(packet, None)
            if recovery is None and packet >= edge:
                recovery = (time, top, first_duplicate or len(points))
        elif packet > edge:
            if packet - 1 in sent:
                smallest = min(smallest, time - sent[packet - 1])
            edge, first_duplicate = packet, None
            if recovery and edge >= recovery[1]:
                reductions.append((recovery[0], time, recovery[2], len(points)))
                recovery = None
        elif first_duplicate is None:
            first_duplicate = len(points)
        points.append((time, top - edge, recovery is not None))
    times, seen = [time for time, *_ in points], dict.fromkeys(MEASURES) | {"reductions": 0}

    def highest(begin, end):
        return max((flying for _, flying, repairs in points[begin:end] if not repairs), default=None)

    settled = max([START_UP] + [over for begin, over, *_ in reductions[:1] if begin < START_UP])
    steady = [(after[0] - here[0], here[1]) for here, after in zip(points, points[1:]) if here[0] >= settled and not here[2]]
    if sum(span for span, _ in steady) < 1:
        return seen
    seen["mean"] = sum(span * flying for span, flying in steady) / sum(span for span, _ in steady)
    reductions = [reduction for reduction in reductions if reduction[0] >= settled]
    begins, peaks, kept = [begin for begin, *_ in reductions], [], []
    for (_, over, stalled, recovered), following in zip(reductions, [*begins[1:], SECONDS]):
        before = highest(bisect.bisect_left(times, times[stalled - 1] - smallest), stalled)
        after = highest(recovered, bisect.bisect_right(times, over + smallest))
        peaks += [before] if before else []
        kept += [after / before] if before and after and following > over + 2 * smallest else []
    seen |= {"reductions": len(begins), "beta": statistics.median(kept or [None])}
    seen["peak"] = statistics.median(peaks or [max(flying for _, flying in steady)])
    seen["period"] = statistics.median([after - here for here, after in zip(begins, begins[1:])] or [None])
    return seen | (probes(events, points, smallest) if is_bbr and seen["mean"] >= 10 else {})


def probes(events, points, smallest):
    """BBR's: times with four packets or fewer for 150 ms, and round trips of the cycle of its rate."""
    dips = []
    for time in (time for time, flying, _ in points if flying <= 4 and time > 3):
        if not dips or time - dips[-1][1] > 2:
            dips.append([time, time])
        dips[-1][1] = time
    bins = collections.Counter(int(time / smallest * 2) for time, kind, *_ in events if kind == "sent" and 3 < time <= SECONDS)
    usual = sum(bins.values()) / len(bins)
    rate = [bins[at] - usual for at in range(min(bins), max(bins))]
    alike = {lag: sum(a * b for a, b in zip(rate, rate[lag:])) for lag in range(6, 33)}
    return {"probe_rtts": sum(end - begin >= 0.15 for begin, end in dips), "cycle": max(alike, key=alike.get) / 2}


def qlog(events):
    """A sender's qlog of a capture. Of a segment sent again the last packet arrived; an ACK that moves nothing tells of the next that did."""
    last = {event[2]: number for number, event in enumerate(event for event in events if event[1] == "sent")}
    survivors, waiting, edge, sent, acks = set(last.values()), {}, 0, itertools.count(), itertools.count()
    out = [{"file_schema": "urn:ietf:params:qlog:file:sequential", "serialization_format": "application/qlog+json-seq",
            "trace": {"vantage_point": {"type": "server"}, "common_fields": {"time_format": "relative_to_epoch"},
                      "event_schemas": ["urn:ietf:params:qlog:events:quic-13"]}}]

    def log(time, name, number, more):
        more["header"] = {"packet_type": "1RTT", "packet_number": number}
        out.append({"time": 1000 * time, "name": f"quic:packet_{name}", "data": more})

    for time, kind, packet, more in events:
        if kind == "sent":
            number = next(sent)
            log(time, "sent", number, {"raw": {"length": more}})
            waiting.update({number: packet} if number in survivors else {})
            continue
        moves, edge = packet > edge, max(edge, packet)
        arrived = [number for number, carries in waiting.items() if carries < edge] if moves else list(waiting)[:more]
        for number in arrived:
            del waiting[number]
        if arrived:
            log(time, "received", next(acks), {"frames": [{"frame_type": "ack", "acked_ranges": [[number] for number in arrived]}]})
    return "".join("\x1e" + json.dumps(event) + "\n" for event in out)


def simulate(windlass, controller, delay, rate, packets):
    """The events of ours on the path of a capture whose ACKs are of so many packets."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "link.trace").write_text("".join(f"{at * 1000 // (rate // 12)}\n" for at in range(1, rate // 12 + 1)))
        scenario = SCENARIO.format(delay=delay, buffer=(5 + delay) * rate // 4, start=(delay + 0.5) / 1000, each=packets)
        (folder / "path.toml").write_text(scenario)
        command = [windlass, "run", folder / "path.toml", "--controller", controller, "--jobs", "1", "--out", folder / "out"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return simulated(next((folder / "out").rglob("*.sqlog")))


def examine(repository, windlass, folder, number, capture):
    """The row of a capture, but for what `identify` says of the qlog files that are written."""
    cca, delay, rate = capture
    command = ["git", "-C", repository, "show", f"e21e193:sensitivity/{delay}-ms-{rate}-kbps/{cca}.csv"]
    events = captured(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    sides, edges = {"linux": events}, {packet for _, kind, packet, _ in events if kind == "acked"}
    if cca in OURS:
        sides["ours"] = simulate(windlass, OURS[cca], delay, rate, round((max(edges) - min(edges)) / (len(edges) - 1)))
    row = {"controller": cca, "delay_ms": delay, "rate_kbps": rate, "buffer_packets": (5 + delay) * rate // 4 // 104}
    for side, events in sides.items():
        row |= {f"{key}_{side}": value for key, value in measure(events, cca == "bbr").items()}
        (folder / side / f"{number:03}.sqlog").write_text(qlog(events))
    return row


def identify(windlass, *arguments):
    """What is said of each file, or of all: (number of the file, answer, nearest by arrivals)."""
    run = subprocess.run([windlass, "qlog", "identify", "--json", "--jobs", "1", *arguments], check=True, stdout=subprocess.PIPE, text=True)
    for answer in map(json.loads, run.stdout.splitlines()):
        nearest = answer.get("arrivals", {}).get("nearest", [{}])[0].get("controller")
        yield int(pathlib.Path(answer.get("file", "0")).stem), answer["controller"] or ("none" if nearest else "too short"), nearest


def main():
    repository, windlass, out = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor() as pool:
        folder = pathlib.Path(folder)
        (folder / "linux").mkdir()
        (folder / "ours").mkdir()
        jobs = [(repository, windlass, folder, *capture) for capture in enumerate(itertools.product(ALL, DELAYS, RATES))]
        rows = list(pool.map(examine, *zip(*jobs)))
        for side in ("linux", "ours"):
            for number, said, nearest in identify(windlass, folder / side):
                rows[number] |= {f"said_{side}": said, f"nearest_{side}": nearest}
        long = {cca: [f"{folder}/linux/{at:03}.sqlog" for at, row in enumerate(rows)
                      if row["controller"] == cca and row["said_linux"] != "too short"] for cca in ALL}
        together = {cca: said for cca in ALL for _, said, _ in identify(windlass, "--one-sender", *long[cca])}
    with open(out, "w", newline="") as file:
        table = csv.DictWriter(file, dict.fromkeys(key for row in rows for key in row), lineterminator="\n")
        table.writeheader()
        table.writerows({key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()} for row in rows)
    tables(rows, together)


def tables(rows, together):
    """The tables of docs/nebby.md: a ratio's median, and how many profiles are within 10 and 25 %."""
    for cca, is_wide in itertools.product(OURS, (True, False)):
        cells = [f"`{OURS[cca]}`", "wide" if is_wide else "narrow"]
        of = [row for row in rows if row["controller"] == cca and (row["buffer_packets"] >= OPPORTUNITY) == is_wide]
        for key in MEASURES:
            ratios = [row[f"{key}_ours"] / row[f"{key}_linux"] for row in of if row[f"{key}_linux"] and row[f"{key}_ours"]]
            near = ", ".join(str(sum(abs(ratio - 1) <= bound for ratio in ratios)) for bound in (0.1, 0.25))
            cells.append(f"{statistics.median(ratios):.2f} ({near} of {len(ratios)})" if ratios else "–")
        print("|", cca, "|", " | ".join(cells), "|")
    for cca, side in itertools.product(together, ("linux", "ours")):
        of = collections.Counter(row[f"said_{side}"] for row in rows if row["controller"] == cca and f"said_{side}" in row)
        right, none, short = of.pop(RIGHT.get(cca), 0), of.pop("none", 0), of.pop("too short", 0)
        print(f"| {cca} | {side} | {right} | {none} | {dict(of) or 0} | {short} | {together[cca]} |")


if __name__ == "__main__":
    main()
