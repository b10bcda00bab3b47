"""What may depend on what, read from Cargo's own data (docs/architecture.md has the picture).

Every package of every workspace stands here with the packages of ours its code may use;
a package or an arrow that is not here fails, as does a manifest Cargo cannot read.
Tests and benchmarks may use what they like, but bring one program of tests a crate.
"""

import json
import os
import subprocess
import sys

NETWORK = {"windlass-controllers", "windlass-network"}
SIMULATOR = NETWORK | {"windlass-adapter", "windlass-qlog", "windlass-simulator"}
STACKS = SIMULATOR | {"windlass-quinn", "windlass-noq", "windlass-s2n-quic", "windlass-stacks"}
ADAPTER = {"windlass-controllers", "windlass-adapter"}

ARROWS = {
    # controllers/, qlog-analysis/model: what everything else stands on.
    "windlass-controllers": set(),
    "windlass-qlog": set(),
    "windlass-literal": ADAPTER,
    "windlass-judged": ADAPTER,
    # adapters/
    "windlass-abi": set(),
    "windlass-adapter": {"windlass-abi", "windlass-controllers", "windlass-qlog"},
    "windlass-quinn": ADAPTER,
    "windlass-noq": ADAPTER,
    "windlass-s2n-quic": ADAPTER | {"windlass-qlog"},
    "windlass-c": ADAPTER | {"windlass-abi"},
    "windlass-quiche": ADAPTER,
    "windlass-quiche-drop-in": {"windlass-quiche"},
    "windlass-quiche-tokio": {"windlass-quiche", "windlass-quiche-testkit", "windlass-adapter-testkit"},
    "xtask": set(),
    "windlass-msquic-sys": {"windlass-abi"},
    "windlass-msquic": ADAPTER | {"windlass-abi", "windlass-msquic-sys", "windlass-qlog"},
    "windlass-msquic-endpoint": {"windlass-msquic-sys"},
    "windlass-msquic-perf": {"windlass-msquic", "windlass-msquic-endpoint"},
    "windlass-msquic-plugin": {"windlass-abi", "windlass-msquic"},
    # qlog-analysis/
    "windlass-qlog-analysis": {"windlass-qlog"},
    "windlass-qlog-columns": {"windlass-qlog-analysis"},
    "windlass-viewer": {"windlass-controllers", "windlass-simulator", "windlass-qlog-analysis"},
    # harness/
    "windlass-network": {"windlass-controllers"},
    "windlass-simulator": SIMULATOR - {"windlass-simulator"},
    "windlass-stacks": STACKS - {"windlass-stacks"},
    "windlass-stacks-quiche": STACKS | {"windlass-quiche"},
    "windlass-stacks-msquic": STACKS | {"windlass-msquic", "windlass-msquic-endpoint"},
    "windlass-lab": STACKS | {"windlass-qlog-analysis", "windlass-qlog-columns"},
    "windlass-papers": STACKS | {"windlass-lab"},
    "windlass-python": SIMULATOR | {"windlass", "windlass-lab", "windlass-qlog-columns"},
    "windlass": STACKS | {"windlass-judged", "windlass-lab", "windlass-papers", "windlass-qlog-analysis", "windlass-qlog-columns"},
}
# Programs and tests that are not published may use all of it.
FREE = {"windlass-fuzz", "reading"}

# All a controller may use of others.
OTHERS = {"windlass-controllers": {"libm", "serde"}}


def packages():
    manifests = subprocess.run(
        ["git", "ls-files", "*Cargo.toml"], check=True, capture_output=True, text=True
    ).stdout.split()
    if not manifests:
        sys.exit("ci/arrows.py: git names no manifest")
    here = os.getcwd()
    left = {os.path.join(here, manifest) for manifest in manifests}
    while left:
        manifest = min(left, key=lambda path: (path.count("/"), path))
        read = subprocess.run(
            ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline", "--manifest-path", manifest],
            capture_output=True,
            text=True,
        )
        if read.returncode != 0:
            sys.exit(f"ci/arrows.py: Cargo cannot read {manifest}: {read.stderr.strip()}")
        found = json.loads(read.stdout)["packages"]
        if not found:
            sys.exit(f"ci/arrows.py: Cargo finds no package in {manifest}")
        for package in found:
            left.discard(package["manifest_path"])
            yield package
        left.discard(manifest)


def main():
    wrong, seen, arrows = [], set(), 0
    for package in packages():
        name = package["name"]
        if name in seen:
            continue
        seen.add(name)
        uses = {dependency["name"] for dependency in package["dependencies"] if dependency["kind"] != "dev"}
        ours = {used for used in uses if used.startswith("windlass") or used in ARROWS}
        arrows += len(ours)
        tests = [target["name"] for target in package["targets"] if "test" in target["kind"]]
        if len(tests) > 1:
            wrong.append(f"{name} links {len(tests)} programs of tests: {', '.join(sorted(tests))}")
        if package["publish"] == [] and name not in ARROWS:
            FREE.add(name)
        if name in ARROWS:
            wrong += [f"{name} depends on {used}" for used in sorted(ours - ARROWS[name])]
        elif name not in FREE:
            wrong.append(f"{name} is in no room: ci/arrows.py does not name it")
        if name in OTHERS:
            wrong += [f"{name} depends on {used}" for used in sorted(uses - ours - OTHERS[name])]
    wrong += [f"{name} is nowhere: ci/arrows.py names it in vain" for name in sorted(ARROWS.keys() - seen)]
    for what in wrong:
        print(f"wall broken: {what}", file=sys.stderr)
    print(f"{len(seen)} packages, {arrows} arrows between ours")
    sys.exit(bool(wrong))


main()
