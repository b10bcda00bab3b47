"""measure.py TRACE PASSES: runs each reader so often, taking turns, and prints the table.

Speed is the file's size by CPU time, user and system, of the least pass: it shows what a
thread does whatever else runs on the machine. Memory is the peak of the resident set
(wait4)."""

import atexit
import os
import shutil
import sys
import time

trace, passes = sys.argv[1], int(sys.argv[2])
windlass, crate = os.environ["windlass"], os.environ["crate"]
here = os.path.dirname(os.path.abspath(__file__))
# A file that is named twice is read once.
other = trace.removesuffix(".sqlog") + "-again.sqlog"
shutil.copyfile(trace, other)
atexit.register(os.remove, other)
metrics = [windlass, "qlog", "metrics", "--format", "csv", "--jobs"]
# Name, how many traces are read, command.
READERS = [
    ("`windlass qlog metrics --jobs 1`", 1, metrics + ["1", trace]),
    ("`windlass qlog metrics --jobs 2`", 1, metrics + ["2", trace]),
    ("two files, `--jobs 1`", 2, metrics + ["1", trace, other]),
    ("two files, `--jobs 2`", 2, metrics + ["2", trace, other]),
    ("qlog crate 0.18", 1, [crate, trace]),
    ("Python, json", 1, [sys.executable, os.path.join(here, "count.py"), trace]),
]


def once(command):
    """CPU seconds, seconds, peak memory in MB of one run."""
    begin = time.monotonic()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} failed: {status}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss / 1024


size = os.path.getsize(trace) / 1e6
best = {}
for number in range(passes):
    for name, times, command in READERS:
        # Slow readers need no second pass to be known as slow.
        if number > 0 and best[name][0] > 5 * times * best[READERS[0][0]][0]:
            continue
        found = once(command)
        before = best.get(name, found)
        best[name] = (min(before[0], found[0]), min(before[1], found[1]), max(before[2], found[2]))
print(f"{size:.0f} MB")
print("| reader | CPU, s | MB/s of CPU | elapsed, s | MB/s elapsed | peak memory, MB |")
print("|---|--:|--:|--:|--:|--:|")
for name, times, _ in READERS:
    cpu, elapsed, memory = best[name]
    size = times * os.path.getsize(trace) / 1e6
    print(f"| {name} | {cpu:.2f} | {size / cpu:.0f} | {elapsed:.2f} | {size / elapsed:.0f} | {memory:.0f} |")
