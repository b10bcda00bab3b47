"""count.py FILE.sqlog: counts events and packets sent with Python's json."""

import json
import sys

events = sent = size = 0
with open(sys.argv[1], "rb") as file:
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
