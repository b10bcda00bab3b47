"""Clients come to a server and go, evenly over a time, and what the server holds of the system is watched.

usage: soak.py NAME SECONDS CONNECTIONS SERVER FETCH CC

Starts SERVER with the controller CC, has CONNECTIONS clients come to it one after another over SECONDS, and samples its
resident memory, threads and descriptors every two seconds. Four clients in five fetch 100 kB and go. One in five
fetches 3 MB and reads so slowly that it stays for 20 to 40 s, so that several are there at any time; one of ten of
these is killed after three seconds, so that its connection ends by the idle timeout. MsQuic's client, which writes no
file to its output, is stopped for eight seconds instead; its server does not report its groups.

Prints a row of the table in docs/reliability.md. Fails if more than one client in fifty failed, memory grows after ten
minutes or the first quarter, threads grow after the half, or descriptors or groups are left when all are gone.
"""

import os, pathlib, signal, subprocess, sys, tempfile, threading, time

name, seconds, connections, server, fetch, cc = sys.argv[1:7]
seconds, connections = float(seconds), int(connections)
# Memory that may be gained from the tenth minute to the end: allocators keep what a burst took.
GROWTH_MB = 4.0
FILE_BYTES, SLOW_BYTES = 100_000, 3_000_000
# MsQuic's client takes as much as comes, so that it needs more to be under way when it is stopped.
STOPPED_BYTES, STOPPED_AFTER_S, STOPPED_S = 30_000_000, 0.06, 8
KILLED_AFTER_S = 3
# Clients that take longer are hung.
TIMEOUT_S = 120
# After the last client the killed ones' connections time out.
IDLE_S = 45.0
perf = name == "msquic"


def sample(pid):
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    return int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"]), descriptors


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def slope(points):
    """MB an hour, by least squares."""
    count = len(points)
    mean_t, mean_y = sum(t for t, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((t - mean_t) ** 2 for t, _ in points)
    return 3600 * sum((t - mean_t) * (y - mean_y) for t, y in points) / spread if spread else 0.0


place = tempfile.TemporaryDirectory()
root = pathlib.Path(place.name)
(root / "files").mkdir()
expected = {"small": os.urandom(FILE_BYTES), "large": os.urandom(SLOW_BYTES)}
for file, content in expected.items():
    (root / "files" / file).write_bytes(content)
if perf:
    certificate, key = root / "certificate.pem", root / "key.pem"
    subprocess.run(
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -keyout {key} -out {certificate}".split(),
        check=True, capture_output=True,
    )
    command = [server, "server", "127.0.0.1:0", certificate, key, f"cc={cc}"]
    ready = "listening at "
else:
    command = [server, "--cc", cc, "--connections", "4096", "--report", "groups", "127.0.0.1:0", root / "files", root / "keys"]
    ready = "serving "
with open(root / "log", "w") as log:
    process = subprocess.Popen(command, stdout=log, stderr=log)
lines = lambda: (root / "log").read_text().splitlines()
deadline = time.monotonic() + 60
while not any(line.startswith(ready) for line in lines()):
    if process.poll() is not None or time.monotonic() > deadline:
        sys.exit(f"{name}: the server does not start: {lines()}")
    time.sleep(0.1)
address = next(line for line in lines() if line.startswith(ready)).rsplit(" ", 1)[1]
time.sleep(1)
first = sample(process.pid)
began = time.monotonic()
counts = {"whole": 0, "slow": 0, "killed": 0}
failures = []
present = [0, 0]
lock = threading.Lock()


def begin(file):
    """A client for `file`; MsQuic's, for as many bytes."""
    if perf:
        size = STOPPED_BYTES if file == "large" else FILE_BYTES
        asked = [fetch, "download", address, str(size)]
    else:
        asked = [fetch, address, root / "keys" / "certificate.der", file]
    return subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def read_slowly(client, lasts):
    """Reads what the client writes, as much every second as takes it so long."""
    out, piece = b"", int(SLOW_BYTES / lasts)
    while part := client.stdout.read(piece):
        out += part
        time.sleep(1)
    return out


def come(number):
    slow, killed = number % 5 == 0, number % 50 == 25
    file = "large" if slow else "small"
    client = begin(file)
    guard = threading.Timer(TIMEOUT_S, client.kill)
    guard.start()
    if killed:
        time.sleep(KILLED_AFTER_S if not perf else STOPPED_AFTER_S)
        client.kill()
        client.communicate()
    elif slow and not perf:
        out = read_slowly(client, 20 + number % 21)
        error = client.stderr.read()
        client.wait()
    else:
        if slow:
            time.sleep(STOPPED_AFTER_S)
            client.send_signal(signal.SIGSTOP)
            time.sleep(STOPPED_S)
            client.send_signal(signal.SIGCONT)
        out, error = client.communicate()
    guard.cancel()
    with lock:
        present[0] -= 1
        if killed:
            counts["killed"] += 1
        elif client.returncode == 0 and (perf or out == expected[file]):
            counts["whole"] += 1
            counts["slow"] += slow
        else:
            failures.append(error.decode(errors="replace").strip() or f"exit {client.returncode}")


threads = []


def invite():
    for number in range(connections):
        wait = began + number * seconds / connections - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        with lock:
            present[0] += 1
            present[1] = max(present)
        thread = threading.Thread(target=come, args=(number,))
        thread.start()
        threads.append(thread)
        if process.poll() is not None:
            return


inviting = threading.Thread(target=invite)
inviting.start()
points = []
while (inviting.is_alive() or time.monotonic() - began < seconds) and process.poll() is None:
    time.sleep(2)
    points.append((time.monotonic() - began, *sample(process.pid)))
inviting.join()
for thread in threads:
    thread.join()
lasted = time.monotonic() - began
# What the server says whenever the number of groups changes.
groups = lambda: [int(line.split()[0]) for line in lines() if line.endswith(" groups")]
deadline = time.monotonic() + IDLE_S + 60
while time.monotonic() < deadline and process.poll() is None:
    left = sample(process.pid)
    if left[2] <= first[2] and (perf or groups()[-1:] == [0]):
        break
    time.sleep(1)
problems = []
used = 0.0
if process.poll() is not None:
    problems.append(f"the server ended: {lines()[-3:]}")
    left = (0.0, 0, 0)
else:
    used = cpu_s(process.pid)
process.kill()
process.wait()
settled = min(600, seconds / 4)
late = [(t, memory) for t, memory, _, _ in points if t > settled] or [(lasted, first[0])]
mean = lambda some: sum(memory for _, memory in some) / len(some)
# Over a minute each, in which slow clients come and go.
grown = mean(late[-30:]) - mean(late[:30])
most = max((memory for _, memory, _, _ in points), default=first[0])
if 50 * len(failures) > counts["whole"]:
    problems.append(f"{len(failures)} clients failed: {failures[:3]}")
if counts["whole"] + counts["killed"] + len(failures) != connections:
    problems.append(f"only {counts} and {len(failures)} failures, of {connections} clients")
if grown > GROWTH_MB:
    problems.append(f"memory grew by {grown:.1f} MB after {settled / 60:.0f} minutes")
if left[1] > max(threads_ for _, _, threads_, _ in points[: max(len(points) // 2, 1)]):
    problems.append(f"{left[1]} threads are left")
if left[2] > first[2]:
    problems.append(f"{left[2]} descriptors are left, of {first[2]} at first")
counted = groups()
if not perf and (max(counted, default=0) == 0 or counted[-1] != 0):
    problems.append(f"of groups, {counted[-3:]} were the last numbers reported; expected some, and none at the end")
print(
    f"| {name} | `{cc}` | {lasted / 60:.1f} | {connections} | {counts['slow']} | {counts['killed']} | {len(failures)} | {present[1]} | {first[0]:.1f} | {mean(late[:30]):.1f} "
    f"| {most:.1f} | {slope(late):+.1f} | {first[1]} → {left[1]} | {first[2]} → {left[2]} | {f'{max(counted)} → {counted[-1]}' if counted else '–'} | {used:.0f} |"
)
for problem in problems:
    print(f"{name}: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
