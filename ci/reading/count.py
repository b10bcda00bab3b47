"""count.py FILE.sqlog: counts events and packets sent with Python's json.

count.py --measures FILE...: what `windlass qlog metrics` measures, worked out anew with nothing
of ours: packets sent and received, bytes, losses, goodput, RTT quantiles, windows of every
connection; one JSON object a file. Files may be compressed, cut off, in any framing and of any
generation of names, Chromium's network logs included.

count.py --compare FILE...: the same beside what we measure, read from the standard input: for each file a
line with the list of its connections' measures. Prints what differs; fails if something does.

count.py --beside WINDLASS FILE...: the same beside what that command measures."""

import gzip
import json
import math
import re
import subprocess
import sys
from collections import OrderedDict

INITIAL_RTT = 333.0
# The frame of draft-ietf-quic-multipath, and its name in the drafts before.
PATH_ACKS = {"path_ack", "ack_mp"}
NOT_ELICITING = {"ack", "padding", "connection_close"} | PATH_ACKS
ONE_RTT, INITIAL, HANDSHAKE, NONE = "1RTT", "initial", "handshake", "none"


def fast(path):
    events = sent = size = 0
    with open(path, "rb") as file:
        for line in file:
            record = json.loads(line.lstrip(b"\x1e"))
            name = record.get("name")
            if name is None:
                continue
            events += 1
            if name == "quic:packet_sent":
                sent += 1
                size += record["data"]["raw"]["length"]
    print(f"{events} events, {sent} packets sent, {size} bytes")


def text_of(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    elif data[:4] == b"\x28\xb5\x2f\xfd":
        data = subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout
    return data.decode("utf-8-sig", "replace")


def records(lines):
    """JSON texts, those that are cut left out."""
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            pass
    return found


def traces(path):
    """Pairs of header and events of a file."""
    text = text_of(path)
    if text.startswith("\x1e"):
        first, *events = records(part for part in text.split("\x1e") if part.strip())
        return [(header(first), events)]
    text = re.sub(r",(\s*[\]}])", r"\1", text[text.index("{"):].rstrip().rstrip(";"))
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        lines = records(text.splitlines())
        if lines and isinstance(lines[0], dict) and not any(key in lines[0] for key in ("traces", "events")):
            head = header(lines.pop(0))
            if lines and "name" not in lines[0] and "time" not in lines[0]:
                head.update(lines.pop(0))
            return [(head, lines)]
        return [unfinished(text)]
    if "constants" in document:
        return [(document, None)]
    top = {key: value for key, value in document.items() if key not in ("traces", "connections")}
    parts = document.get("traces", document.get("connections"))
    if parts is None:
        return [(header(document), [])]
    return [({**top, **{key: value for key, value in part.items() if key != "events"}}, part["events"])
            for part in parts if "events" in part]


def header(first):
    return {**first, **first.get("trace", {})}


def unfinished(text):
    """The header and the whole events of a document that is cut off."""
    decoder = json.JSONDecoder()
    at = text.index('"events"')
    head = {}
    for key in ("event_fields", "configuration", "vantage_point", "qlog_version"):
        found = re.search(rf'"{key}"\s*:\s*', text[:at])
        if found:
            head[key] = decoder.raw_decode(text, found.end())[0]
    at = text.index("[", at) + 1
    events = []
    while True:
        while at < len(text) and text[at] in " \r\n\t,":
            at += 1
        try:
            event, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            return head, events
        events.append(event)


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def whole(value):
    value = number(value)
    return None if value is None or value < 0 or value != int(value) else int(value)


class Connection:
    """Counts of a connection; times are milliseconds."""

    def __init__(self):
        self.sent = self.received = self.sent_bytes = self.received_bytes = 0
        self.packet_times = []
        self.lost = self.lost_together = self.lost_total = 0
        self.losses_logged = False
        self.flights = {}
        self.inferred = 0
        self.acked_data = {}
        self.received_data = {}
        self.samples = []
        self.logged = []
        self.smoothed = None
        self.windows = []
        self.of_paths = {}
        self.last = 0.0
        self.acks = False

    def packet_sent(self, now, kind, packet, size, frames, path=0):
        self.sent += 1
        self.sent_bytes += size or 0
        self.packet_times.append(now)
        types = None if frames is None else [frame["type"] for frame in frames]
        if types is not None and all(name in NOT_ELICITING for name in types) or packet is None:
            return
        flight = self.flights.setdefault((kind, path), {"open": {}, "largest": -1})
        data = [frame for frame in frames or [] if frame["type"] == "stream"]
        flight["open"][packet] = {"time": now, "lost": False, "data": data}

    def packet_received(self, now, kind, size, frames, path=0):
        self.received += 1
        self.received_bytes += size or 0
        self.packet_times.append(now)
        for frame in frames or []:
            if frame["type"] == "stream":
                add(self.received_data, frame)
            elif frame["type"] == "ack":
                self.ack(now, (kind, path), frame["ranges"])
            elif frame["type"] in PATH_ACKS:
                self.ack(now, (kind, frame["path"]), frame["ranges"])

    def ack(self, now, space, ranges):
        if not ranges:
            return
        self.acks = True
        flight = self.flights.get(space)
        if flight is None:
            return
        # Packets that are not acknowledged.
        packets = flight["open"]
        top = max(high for _, high in ranges)
        if top in packets and not packets[top]["lost"]:
            sample = now - packets[top]["time"]
            self.samples.append(sample)
            self.smoothed = sample if self.smoothed is None else self.smoothed + (sample - self.smoothed) / 8
        for packet in [p for p in packets if any(low <= p <= high for low, high in ranges)]:
            for frame in packets.pop(packet)["data"]:
                add(self.acked_data, frame)
        flight["largest"] = largest = max(flight["largest"], top)
        # RFC 9002, 6.1.
        delay = max(9 / 8 * max(self.samples[-1], self.smoothed), 1) if self.samples else None
        for packet, entry in packets.items():
            if packet >= largest or entry["lost"]:
                continue
            if packet <= largest - 3 or delay is not None and now - entry["time"] >= delay:
                entry["lost"] = True
                self.inferred += 1

    def metrics(self, now, data, path, multipath):
        window = next((whole(data[key]) for key in ("congestion_window", "cwnd", "current_cwnd") if key in data), None)
        if window is not None:
            # Paths that are used at a time have a window each, and the connection has all of them.
            self.of_paths[path] = window
            self.windows.append((now, sum(self.of_paths.values()) if multipath else window))
        latest = number(data.get("latest_rtt"))
        if latest is not None and latest > 0:
            self.logged.append((latest, bool(self.samples)))
        total = data.get("cf_lost_packets")
        if isinstance(total, dict):
            self.losses_logged = True
            self.lost_total = max(self.lost_total, total.get("total", 0))

    def result(self, unit):
        """What is measured; RTTs logged are times `unit` milliseconds."""
        rtts = []
        for latest, sampled in self.logged:
            latest *= unit
            if not rtts and not sampled and abs(latest - INITIAL_RTT) < 1e-6:
                continue
            rtts.append(latest)
        rtts = sorted(rtts or self.samples)
        active = (max(self.packet_times) - min(self.packet_times)) / 1e3 if self.packet_times else 0
        rate = lambda data: total(data) * 8 / active / 1e6 if active > 0 and total(data) > 0 else None
        at = lambda q: rtts[max(math.ceil(q * len(rtts)), 1) - 1] if rtts else None
        lost = max(self.lost, self.lost_together, self.lost_total) if self.losses_logged else None
        if lost is None and self.acks and self.sent:
            lost = self.inferred
        area = span = 0
        for (since, window), (until, _) in zip(self.windows, self.windows[1:] + [(self.last, 0)]):
            area += window * max(until - since, 0)
            span += max(until - since, 0)
        windows = [window for _, window in self.windows]
        return {
            "packets_sent": self.sent or None,
            "packets_received": self.received or None,
            "bytes_sent": self.sent_bytes or None,
            "bytes_received": self.received_bytes or None,
            "packets_lost": lost,
            "losses": None if lost is None else "logged" if self.losses_logged else "inferred",
            "goodput": rate(self.acked_data),
            "received_goodput": rate(self.received_data),
            "rtt": {"samples": len(rtts), "min": rtts[0], "p50": at(0.5), "p90": at(0.9), "p95": at(0.95),
                    "p99": at(0.99), "max": rtts[-1], "mean": sum(rtts) / len(rtts)} if rtts else None,
            "cwnd": {"min": min(windows), "max": max(windows),
                     "mean": area / span if span > 0 else windows[-1]} if windows else None,
        }


def add(streams, frame):
    """Adds the data of a frame to pieces by stream: lists of begin and end."""
    if frame["length"] <= 0:
        return
    begin, end = frame["offset"], frame["offset"] + frame["length"]
    pieces = streams.setdefault(frame["id"], [])
    if pieces and pieces[-1][0] <= begin <= pieces[-1][1]:
        pieces[-1][1] = max(pieces[-1][1], end)
        return
    pieces.append([begin, end])
    pieces.sort()
    merged = [pieces[0]]
    for low, high in pieces[1:]:
        if low <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    streams[frame["id"]] = merged


def total(streams):
    return sum(high - low for pieces in streams.values() for low, high in pieces)


def space(kind):
    kind = str(kind or "").lower()
    if kind in ("initial", "handshake"):
        return kind
    return NONE if kind in ("retry", "version_negotiation", "stateless_reset") else ONE_RTT


def frames_of(data):
    if not isinstance(data.get("frames"), list):
        return None
    found = []
    for frame in data["frames"]:
        if not isinstance(frame, dict):
            continue
        name = str(frame.get("frame_type", frame.get("type", ""))).lower()
        raw = frame.get("raw") if isinstance(frame.get("raw"), dict) else {}
        length = whole(frame.get("length", frame.get("payload_length", raw.get("payload_length", raw.get("length", 0)))))
        ranges = []
        for ends in frame.get("acked_ranges", frame.get("blocks", [])) or []:
            ends = [whole(end) for end in (ends if isinstance(ends, list) else [ends])]
            if ends and ends[0] is not None:
                other = ends[1] if len(ends) > 1 and ends[1] is not None else ends[0]
                ranges.append((min(ends[0], other), max(ends[0], other)))
        found.append({"type": name, "id": whole(frame.get("stream_id", frame.get("id"))),
                      "offset": whole(frame.get("offset", 0)) or 0, "length": length or 0, "ranges": ranges,
                      "path": whole(frame.get("path_id")) or 0})
    return found


def packet_of(data):
    head = data.get("header") if isinstance(data.get("header"), dict) else {}
    raw = data.get("raw") if isinstance(data.get("raw"), dict) else {}
    pick = lambda *values: next((value for value in values if value is not None), None)
    kind = pick(head.get("packet_type"), data.get("packet_type"), data.get("type"))
    packet = whole(pick(head.get("packet_number"), data.get("packet_number")))
    size = whole(pick(raw.get("length"), head.get("packet_size"), data.get("packet_size"), head.get("length")))
    return space(kind), packet, size


def events_of(head, events):
    """Each event as time (ms), name, data, connection, path, trigger; names in lower case."""
    columns = [str(name).lower() for name in head.get("event_fields", head.get("fields", []))] or [
        "relative_time", "category", "event", "trigger", "data"]
    units = (head.get("configuration") or {}).get("time_units")
    scale = {"us": 1e-3, "ns": 1e-6, "s": 1e3}.get(units, 1)
    common = head.get("common_fields") or {}
    delta = common.get("time_format") in ("delta", "relative_to_previous_event") or "delta_time" in columns
    clock = 0.0
    for event in events:
        if isinstance(event, list):
            event = dict(zip(columns, event))
        time = number(next((event[key] for key in ("time", "relative_time", "delta_time") if key in event), None))
        kind = event.get("name") or event.get("event") or event.get("event_type") or event.get("type")
        if time is None or kind is None:
            continue
        clock = clock + time * scale if delta else time * scale
        name = kind if ":" in kind else f"{event.get('category')}:{kind}"
        data = event.get("data") if isinstance(event.get("data"), dict) else {}
        path = whole(event.get("path_id", event.get("path"))) or whole(data.get("path_id")) or 0
        yield clock, name.lower(), data, event.get("group_id", event.get("odcid")), path, event.get("trigger"), scale


def pre_draft(connection, now, kind, data, trigger):
    """Events from before the drafts: a frame each."""
    if kind in ("ack_new", "stream_new"):
        frame = {"type": "stream" if "stream_id" in data else "ack", "id": data.get("stream_id"),
                 "offset": whole(data.get("offset")) or 0, "length": whole(data.get("length")) or 0,
                 "ranges": [(min(ends), max(ends)) for ends in data.get("blocks", [])]}
        if trigger == "PACKET_TX":
            connection.packet_sent(now, ONE_RTT, whole(data.get("packet_nr")), None, [frame])
        else:
            connection.packet_received(now, ONE_RTT, None, [frame])
    elif kind == "packet_lost":
        connection.losses_logged = True
        connection.lost += 1
    elif kind in ("bytes_in_flight_update", "cwnd_update", "rtt_update", "metric_update"):
        connection.metrics(now, data, 0, False)


def one(head, events):
    """The connections of a trace."""
    found = OrderedDict()
    units = []
    text = json.dumps(events)
    multipath = any(kind in text for kind in PATH_ACKS)
    old = head.get("qlog_version") == "0.1" or "quic_version" in head
    for now, name, data, group, path, trigger, scale in events_of(head, events):
        connection = found.setdefault(group, Connection())
        connection.last = max(connection.last, now)
        kind = name.split(":", 1)[1]
        if old:
            pre_draft(connection, now, kind, data, trigger)
            continue
        if kind == "packet_sent":
            number_space, packet, size = packet_of(data)
            connection.packet_sent(now, number_space, packet, size, frames_of(data), path)
        elif kind == "packet_received":
            number_space, _, size = packet_of(data)
            connection.packet_received(now, number_space, size, frames_of(data), path)
        elif kind == "packet_lost":
            connection.losses_logged = True
            connection.lost += 1
        elif kind == "packets_lost" or name == "windlass:lost":
            connection.losses_logged = True
            connection.lost_together += whole(data.get("lost_packets", data.get("packets"))) or 0
        elif kind in ("metrics_updated", "metric_update", "recovery_metrics_updated", "congestion_metric_update"):
            connection.metrics(now, data, path, multipath)
        elif kind in ("recovery_parameters_set", "parameters_set") and "congestion_controller" in data:
            connection.losses_logged = True
        elif name == "windlass:started":
            connection.losses_logged = True
        units.append(scale)
    unit = units[0] if units else 1
    logged = [latest for connection in found.values() for latest, _ in connection.logged]
    if logged and abs(logged[0] * unit - INITIAL_RTT / 1000) < 1e-9:
        # The initial RTT, in seconds.
        unit *= 1000
    return [{"connection": group, **connection.result(unit)} for group, connection in found.items()]


def netlog(document):
    """The sessions of a network log of Chromium."""
    names = {value: key for key, value in document["constants"]["logEventTypes"].items()}
    source = document["constants"]["logSourceType"]["QUIC_SESSION"]
    levels = {"ENCRYPTION_INITIAL": INITIAL, "ENCRYPTION_HANDSHAKE": HANDSHAKE}
    sessions = OrderedDict()
    for event in document["events"]:
        if event["source"]["type"] != source:
            continue
        name = names[event["type"]].removeprefix("QUIC_SESSION")
        params = event.get("params") or {}
        now = float(event["time"])
        session = sessions.setdefault(event["source"]["id"], {
            "connection": Connection(), "frames": [], "received": None, "size": None, "id": None})
        connection = session["connection"]
        if name == "" and params.get("connection_id"):
            session["id"] = params["connection_id"]
        if name in ("_PACKET_RECEIVED", "_UNAUTHENTICATED_PACKET_HEADER_RECEIVED", "_PACKET_SENT"):
            if session["received"]:
                connection.packet_received(*session["received"])
                session["received"] = None
        if name == "_PACKET_SENT":
            exact = params.get("sent_time_us", now * 1000) / 1000
            kind = levels.get(params["encryption_level"], ONE_RTT)
            connection.packet_sent(exact, kind, params["packet_number"], params["size"], session["frames"])
            session["frames"] = []
        elif name == "_PACKET_LOST":
            connection.lost += 1
        elif name == "_PACKET_RECEIVED":
            session["size"] = params["size"]
        elif name == "_UNAUTHENTICATED_PACKET_HEADER_RECEIVED":
            kind = {"INITIAL": INITIAL, "HANDSHAKE": HANDSHAKE}.get(params.get("long_header_type"), ONE_RTT)
            session["received"] = (now, kind, session["size"], [])
            session["size"] = None
        elif name.endswith("_FRAME_SENT") or name.endswith("_FRAME_RECEIVED"):
            kind = name.removesuffix("_SENT").removesuffix("_RECEIVED").removesuffix("_FRAME").strip("_").lower()
            ranges = []
            if kind == "ack" and "largest_observed" in params:
                low = params["smallest_observed"]
                for gap in sorted(params["missing_packets"]) + [params["largest_observed"] + 1]:
                    if gap > low:
                        ranges.append((low, gap - 1))
                    low = max(low, gap + 1)
            frame = {"type": kind, "id": params.get("stream_id"), "offset": params.get("offset", 0),
                     "length": params.get("length", 0), "ranges": ranges}
            if name.endswith("_SENT"):
                session["frames"].append(frame)
            elif session["received"]:
                session["received"][3].append(frame)
    found = []
    for session in sessions.values():
        connection = session["connection"]
        connection.losses_logged = True
        if session["received"]:
            connection.packet_received(*session["received"])
        if connection.sent:
            found.append({"connection": session["id"], **connection.result(1)})
    return found


def measures(path):
    found = []
    for head, events in traces(path):
        found.append(netlog(head) if events is None else one(head, events))
    return {"file": path, "traces": found}


def close(ours, theirs, share):
    """Whether two numbers are within `share` of the second, or both are none."""
    if not isinstance(ours, (int, float)) or not isinstance(theirs, (int, float)):
        return ours is None and theirs is None
    return abs(ours - theirs) <= share * abs(theirs) + 1e-9


def differences(path, ours, theirs):
    """What differs between our measures of a connection and the count."""
    # Times of network logs are whole milliseconds, but for those of departures.
    netlog = "netlog" in path
    exact = ["packets_sent", "packets_received", "bytes_sent", "bytes_received", "packets_lost"]
    checks = [((key,), 0) for key in exact]
    checks += [((key,), 1e-2 if netlog else 1e-6) for key in ("goodput", "received_goodput")]
    checks += [(("rtt", "samples"), 0)]
    checks += [(("rtt", key), 2e-2 if netlog else 1e-3) for key in ("min", "mean", "p50", "p90", "p95", "p99", "max")]
    checks += [(("cwnd", key), 1e-6) for key in ("min", "mean", "max")]
    for keys, share in checks:
        pair = [ours, theirs]
        for key in keys:
            pair = [None if of is None else of.get(key) for of in pair]
        if not close(*pair, share):
            yield f"{path}: {' '.join(keys)}: {pair[0]}, counted {pair[1]}"
    if ours["losses"] != theirs["losses"]:
        yield f"{path}: losses {ours['losses']}, counted as {theirs['losses']}"


def beside(windlass, files):
    """What `windlass` measures of each file, a line each as compare() takes them."""
    for path in files:
        output = subprocess.run([windlass, "qlog", "metrics", "--format", "json", path], check=True, capture_output=True)
        yield json.dumps([json.loads(line) for line in output.stdout.splitlines()])


def compare(files, lines):
    found = []
    for path, line in zip(files, lines, strict=True):
        ours = [one["measures"] for one in json.loads(line)]
        theirs = [one for trace in measures(path)["traces"] for one in trace]
        if len(ours) != len(theirs):
            found.append(f"{path}: {len(ours)} connections, counted {len(theirs)}")
            continue
        for pair in zip(ours, theirs):
            found += differences(path, *pair)
    print("\n".join(found))
    return not found


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        sys.exit(not compare(sys.argv[2:], sys.stdin))
    elif sys.argv[1] == "--beside":
        sys.exit(not compare(sys.argv[3:], beside(sys.argv[2], sys.argv[3:])))
    elif sys.argv[1] == "--measures":
        for path in sys.argv[2:]:
            print(json.dumps(measures(path)))
    else:
        fast(sys.argv[1])
