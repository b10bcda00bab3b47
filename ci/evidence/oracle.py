"""Runs ns-2 and windlass over one lossy path and writes the table of docs/oracle.md.

Called by ci/evidence/oracle with the path of the command; further arguments are the algorithms to compare, all without any.
WINDLASS_ORACLE_SEEDS is the number of seeds, 5 by default.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PAGE = pathlib.Path("docs/oracle.md")
BEGIN, END = "<!-- ci/evidence/oracle -->", "<!-- end -->"
# What stands from here on is no reason.
UNEXPLAINED = "## Not explained"
LOSSES = (1e-4, 1e-3, 1e-2)
SEEDS = int(os.environ.get("WINDLASS_ORACLE_SEEDS", "5"))
WARM_UP = 50
# Simulated seconds: as many losses where they are rare.
SECONDS = {1e-4: 450, 1e-3: 450, 1e-2: 350}
RTT = 0.05
PAYLOAD = 1460
# The largest difference that needs no reason.
ALIKE = 0.10

# ns-2's name, and ours with the parameters of its module.
ALGORITHMS = {
    "reno": "reno",
    "cubic": "cubic-2005:profile=paper,ssthresh=inf",
    "bic": "bic:profile=linux",
    "highspeed": "highspeed:form=table",
    "htcp": "h-tcp",
    "scalable": "scalable:a=0.0196",
    "vegas": "vegas:alpha=2,beta=4,first_loss=0.5",
    "westwood": "westwood:never_rises=off",
}

SCENARIO = """
duration_s = {seconds}
sample_ms = {warm_up_ms}
packet_bytes = 1460
overhead_bytes = 40

[dumbbell]
rate_mbps = 100
rtt_ms = 50
buffer_packets = 4000
loss_percent = {percent}

[[flow]]
name = "flow"
controller = "{controller}"
pacing = false
"""


def theirs(algorithm, loss, seed, *options):
    """Packets acknowledged per round trip."""
    command = ["ns", "ci/evidence/oracle.tcl", algorithm, str(loss), str(seed), str(SECONDS[loss]), str(WARM_UP), *options]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(output.split()[0]) * RTT


def ours(command, controller, loss, seed):
    """Packets' worth of goodput per round trip."""
    text = SCENARIO.format(controller=controller, seconds=SECONDS[loss], warm_up_ms=1000 * WARM_UP, percent=f"{100 * loss:g}")
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        arguments = [command, "run", file.name, "--seed", str(seed), "--json"]
        output = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    series = json.loads(output)["runs"][0]["flows"][0]["series"]
    rates = [rate for time, rate in zip(series["time_s"], series["goodput_mbps"]) if time > WARM_UP + 0.5]
    return sum(rates) / len(rates) * 1e6 / 8 / PAYLOAD * RTT


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def main():
    command, *names = sys.argv[1:]
    unknown = [name for name in names if name not in ALGORITHMS]
    if unknown:
        sys.exit(f"unknown algorithm {', '.join(unknown)}; expected {', '.join(ALGORITHMS)}")
    wanted = {name: ALGORITHMS[name] for name in names or ALGORITHMS}
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    reasons = tail.split(UNEXPLAINED)[0]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {}
        for name, controller in wanted.items():
            for loss in LOSSES:
                seeds = range(1, SEEDS + 1)
                jobs[name, loss] = (
                    [pool.submit(theirs, name, loss, seed) for seed in seeds],
                    [pool.submit(ours, command, controller, loss, seed) for seed in seeds],
                )
        lines = ["| ns-2 | ours | loss | ns-2, packets | ours, packets | difference |", "| --- | --- | --- | ---: | ---: | ---: |"]
        unexplained = []
        for (name, loss), (them, us) in jobs.items():
            a, b = mean(job.result() for job in them), mean(job.result() for job in us)
            off = b / a - 1
            lines.append(f"| {name} | `{wanted[name]}` | {loss:g} | {a:.1f} | {b:.1f} | {100 * off:+.0f} % |")
            print(lines[-1], flush=True)
            if abs(off) > ALIKE and f"- **{name}, {loss:g}**" not in reasons and f"- **{name}**" not in reasons:
                unexplained.append(f"{name} at {loss:g} ({100 * off:+.0f} %)")
    if not names:
        PAGE.write_text(head + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + tail)
    if unexplained:
        sys.exit(f"docs/oracle.md has no reason for: {', '.join(unexplained)}")


if __name__ == "__main__":
    main()
