"""Clients come to a file server and go, and what the server holds of the system is watched.

usage: soak.py NAME SECONDS CLIENTS SERVER FETCH CC

Starts SERVER with the controller CC, keeps CLIENTS copies of FETCH busy, each for a file of 100 kB, and samples the
server's resident memory, threads and descriptors every two seconds. One client in fifty is killed halfway, so that
its connection ends by the idle timeout. Prints a row of the table in docs/reliability.md. Fails if more than one
client in fifty failed, memory grows after the first quarter, threads grow after the half, or descriptors
or groups are left when all are gone.
"""

import os, pathlib, subprocess, sys, tempfile, threading, time

name, seconds, clients, server, fetch, cc = sys.argv[1:7]
seconds, clients = float(seconds), int(clients)
# Memory that may be gained between the first quarter and the end: allocators keep what a burst took.
GROWTH_MB = 8.0
FILE_BYTES = 100_000
# After the last client the killed ones' connections time out.
IDLE_S = 45.0


def sample(pid):
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    return int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"]), descriptors


def slope(points):
    """MB an hour, by least squares."""
    count = len(points)
    mean_t, mean_y = sum(t for t, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((t - mean_t) ** 2 for t, _ in points)
    return 3600 * sum((t - mean_t) * (y - mean_y) for t, y in points) / spread if spread else 0.0


place = tempfile.TemporaryDirectory()
root = pathlib.Path(place.name)
(root / "files").mkdir()
(root / "files" / "file").write_bytes(os.urandom(FILE_BYTES))
expected = (root / "files" / "file").read_bytes()
with open(root / "log", "w") as log:
    process = subprocess.Popen(
        [server, "--cc", cc, "--connections", "4096", "--report", "groups", "127.0.0.1:0", root / "files", root / "keys"],
        stdout=log,
        stderr=log,
    )
lines = lambda: (root / "log").read_text().splitlines()
deadline = time.monotonic() + 60
while not any(line.startswith("serving ") for line in lines()):
    if process.poll() is not None or time.monotonic() > deadline:
        sys.exit(f"{name}: the server does not start: {lines()}")
    time.sleep(0.1)
address = next(line for line in lines() if line.startswith("serving ")).rsplit(" ", 1)[1]
time.sleep(1)
first = sample(process.pid)
began = time.monotonic()
over = threading.Event()
counts = {"whole": 0, "killed": 0}
failures = []
lock = threading.Lock()


def work(number):
    round_ = 0
    while not over.is_set():
        round_ += 1
        command = [fetch, address, root / "keys" / "certificate.der", "file"]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if (number * 7 + round_) % 50 == 0:
            time.sleep(0.02)
            client.kill()
            client.communicate()
            with lock:
                counts["killed"] += 1
            continue
        out, error = client.communicate()
        with lock:
            if client.returncode == 0 and out == expected:
                counts["whole"] += 1
            else:
                failures.append(error.decode(errors="replace").strip())


threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
for thread in threads:
    thread.start()
points = []
while time.monotonic() - began < seconds and process.poll() is None:
    time.sleep(2)
    points.append((time.monotonic() - began, *sample(process.pid)))
over.set()
for thread in threads:
    thread.join()
lasted = time.monotonic() - began
# What the server says whenever the number of groups changes.
groups = lambda: [int(line.split()[0]) for line in lines() if line.endswith(" groups")]
deadline = time.monotonic() + IDLE_S + 60
while time.monotonic() < deadline and process.poll() is None:
    left = sample(process.pid)
    if left[2] <= first[2] and groups()[-1:] == [0]:
        break
    time.sleep(1)
problems = []
if process.poll() is not None:
    problems.append(f"the server ended: {lines()[-3:]}")
    left = (0.0, 0, 0)
process.kill()
process.wait()
late = [(t, memory) for t, memory, _, _ in points if t > seconds / 4]
grown = sum(memory for _, memory in late[-5:]) / max(len(late[-5:]), 1) - sum(memory for _, memory in late[:5]) / max(len(late[:5]), 1)
most = max(memory for _, memory, _, _ in points)
if 50 * len(failures) > counts["whole"]:
    problems.append(f"{len(failures)} clients failed: {failures[:3]}")
if counts["whole"] < clients:
    problems.append(f"only {counts['whole']} clients got their file")
if grown > GROWTH_MB:
    problems.append(f"memory grew by {grown:.1f} MB after the first quarter")
if left[1] > max(threads_ for _, _, threads_, _ in points[: max(len(points) // 2, 1)]):
    problems.append(f"{left[1]} threads are left")
if left[2] > first[2]:
    problems.append(f"{left[2]} descriptors are left, of {first[2]} at first")
counted = groups()
if max(counted, default=0) == 0 or counted[-1] != 0:
    problems.append(f"of groups, {counted[-3:]} were told last; expected some, and none at the end")
per_hour = f"{slope(late):+.1f}"
print(
    f"| {name} | `{cc}` | {lasted / 60:.1f} | {counts['whole']} | {len(failures)} | {counts['killed']} | {first[0]:.1f} | {most:.1f} | {per_hour} "
    f"| {first[1]} → {left[1]} | {first[2]} → {left[2]} | {f'{max(counted)} → {counted[-1]}' if counted else '–'} |"
)
for problem in problems:
    print(f"{name}: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
