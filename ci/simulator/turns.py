"""Packets per CPU second of several commands that take turns, and what the others reach of the first.

turns.py [--elapsed] TURNS NAME COMMAND [NAME COMMAND …]: each COMMAND prints `packets NUMBER` somewhere, which is
divided by the CPU time, user and system, that the process took, or by the time that passed. Ratios are of the two runs of one turn; their interval is
that of the median, 95 % by order statistics.
"""

import math
import os
import re
import shlex
import subprocess
import sys
import time


def rate(command, elapsed):
    """Million packets per CPU second, or per second that passed, of one run."""
    before, began = os.times(), time.monotonic()
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=True)
    after, took = os.times(), time.monotonic() - began
    packets = re.search(r"packets (\d+)", done.stdout)
    if packets is None:
        sys.exit(f"turns.py: {command} printed no `packets NUMBER`")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return int(packets[1]) / (took if elapsed else cpu) / 1e6


def interval(values):
    """Median and the bounds of its 95 % interval, as far as there are values enough."""
    values, n = sorted(values), len(values)
    middle = (values[(n - 1) // 2] + values[n // 2]) / 2
    below = 0
    while below < n // 2 and 2 * sum(math.comb(n, k) for k in range(below + 1)) / 2**n <= 0.05:
        below += 1
    below = max(below - 1, 0)
    return middle, values[below], values[n - 1 - below]


def main():
    elapsed = sys.argv[1] == "--elapsed"
    turns, *rest = sys.argv[1 + elapsed:]
    names, commands = rest[::2], rest[1::2]
    rates = [[rate(command, elapsed) for command in commands] for _ in range(int(turns))]
    columns = list(zip(*rates))
    for name, column in zip(names, columns):
        middle, low, high = interval(column)
        other, least, most = interval([one / first for one, first in zip(column, columns[0])])
        print(f"| {name} | {middle:.2f} | {low:.2f}–{high:.2f} | {other:.2f} | {least:.2f}–{most:.2f} |")


main()
