"""hostile.py DIRECTORY [MEGABYTES]: traces made to take memory, so many megabytes each
(default 300), through `windlass qlog metrics` and `info` with two threads. Prints each with
the peak of the resident set, and fails where that is above 200 MB.

The program is named by the variable `windlass`."""

import os
import sys

LIMIT = 200
HEADER = (
    '\x1e{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq",'
    '"trace":{"vantage_point":{"type":"server"}}}\n'
)


def sent(number, more="", stream=0, offset=None):
    offset = number * 1160 if offset is None else offset
    return (
        f'\x1e{{"time":{number * 0.01:.2f},"name":"quic:packet_sent"{more},"data":{{"header":{{"packet_type":"1RTT",'
        f'"packet_number":{number}}},"raw":{{"length":1200}},"frames":[{{"frame_type":"stream","stream_id":{stream},'
        f'"offset":{offset},"raw":{{"length":1160}}}}]}}}}\n'
    )


def acked(number, low, high):
    return (
        f'\x1e{{"time":{number * 0.01:.2f},"name":"quic:packet_received","data":{{"header":{{"packet_type":"1RTT",'
        f'"packet_number":{number}}},"raw":{{"length":40}},"frames":[{{"frame_type":"ack","acked_ranges":'
        f"[[{low},{high}]]}}]}}}}\n"
    )


def rtt(number, more=""):
    # From microseconds to hours, no two alike.
    value = 2 ** (number * 7 % 360 / 10) / 1e3
    return (
        f'\x1e{{"time":{number * 0.01:.2f},"name":"quic:recovery_metrics_updated"{more},"data":'
        f'{{"latest_rtt":{value:.6f},"congestion_window":{number % 65536}}}}}\n'
    )


# What each trace is made of: record number `n` of it.
TRACES = {
    "never acknowledged": sent,
    "connections": lambda n: sent(n, f',"group_id":"{n:x}"'),
    "connections, again and again": lambda n: sent(n, f',"group_id":"{n % 4000:x}"'),
    "connections with delays": lambda n: rtt(n, f',"group_id":"{n % 2000:x}"'),
    "streams": lambda n: sent(n, stream=4 * n) + acked(n, n, n),
    "pieces of streams": lambda n: sent(n, stream=4 * (n % 5000), offset=n // 5000 * 5000) + acked(n, n, n),
    "paths": lambda n: sent(n, f',"path":{n}'),
    "few paths": lambda n: sent(n, f',"path":{n % 30}'),
    "frames of a packet": lambda n: sent(n).replace(
        '"frames":[', '"frames":[' + '{"frame_type":"stream","stream_id":8,"offset":%d,"length":1},' % n * 40
    ),
    "congestion states": lambda n: f'\x1e{{"time":{n},"name":"quic:congestion_state_updated","data":{{"new":"s{n}"}}}}\n',
    "names of events": lambda n: f'\x1e{{"time":{n},"name":"x:e{n}","data":{{}}}}\n',
    "unknown fields": lambda n: f'\x1e{{"time":{n},"name":"quic:recovery_metrics_updated","data":{{"f{n}":{n}}}}}\n',
    "ranges of an ACK": lambda n: acked(n, n, n).replace(
        '"acked_ranges":[', '"acked_ranges":[' + ",".join(f"[{r},{r}]" for r in range(0, 4000, 2)) + ","
    ),
}


def write(path, record, size):
    written = number = 0
    with open(path, "w") as file:
        written += file.write(HEADER)
        while written < size:
            written += file.write("".join(record(number + step) for step in range(200)))
            number += 200


def one_record(path, size):
    """A record as long as the file."""
    with open(path, "w") as file:
        file.write(HEADER)
        file.write('\x1e{"time":1,"name":"x:y","data":{"a":"')
        for _ in range(size >> 20):
            file.write("a" * (1 << 20))
        file.write('"}}\n')


def one_header(path, size):
    """A header as long as the file."""
    with open(path, "w") as file:
        file.write('{"qlog_version":"0.3","summary":[')
        for _ in range(size >> 20):
            file.write("0," * (1 << 19))
        file.write('0],"traces":[{"events":[]}]}')


def traces(path, size):
    with open(path, "w") as file:
        file.write('{"qlog_version":"0.3","traces":[')
        for _ in range(size >> 20):
            file.write('{"events":[]},' * 74899)
        file.write('{"events":[]}]}')


def sessions(path, size):
    """A network log of many sessions."""
    with open(path, "w") as file:
        file.write('{"constants":{"logEventTypes":{"QUIC_SESSION_PACKET_SENT":2},"logSourceType":{"QUIC_SESSION":1}},"events":[\n')
        number = written = 0
        while written < size:
            number += 1
            written += file.write(
                f'{{"time":"{number}","type":2,"source":{{"id":{number % 3000},"type":1}},'
                f'"params":{{"packet_number":{number},"size":1200}}}},\n'
            )
        file.write("{}]}")


def peak(command):
    """Whether it ended well, and peak memory in MB."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


directory = sys.argv[1]
size = (int(sys.argv[2]) if len(sys.argv) > 2 else 300) << 20
path = os.path.join(directory, "hostile.qlog")
writers = [(name, lambda path, size, record=record: write(path, record, size)) for name, record in TRACES.items()]
writers += [("one record", one_record), ("one header", one_header), ("traces", traces), ("sessions", sessions)]
worst = 0
for name, writer in writers:
    writer(path, size)
    for what in ["metrics", "info"]:
        code, memory, cpu = peak([os.environ["windlass"], "qlog", what, "--jobs", "2", path])
        # A file may be refused, but nothing may break down.
        if code not in (0, 1, 2):
            sys.exit(f"{name}: qlog {what} ended with {code}")
        worst = max(worst, memory)
        print(f"{name:<30} {what:<8} {memory:4.0f} MB {cpu:6.2f} s of CPU, ended with {code}", flush=True)
os.remove(path)
if worst > LIMIT:
    sys.exit(f"{worst:.0f} MB are more than {LIMIT}")
