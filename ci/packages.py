"""What a published package has to say of itself and to hold.

`packages.py manifests` checks every manifest and prints a line for each published package: its name,
its oldest compiler, its workspace's manifest, its features but those that ask for a newer
compiler, and the arguments for its documentation.
`packages.py archives DIRECTORY NAME…` checks that DIRECTORY holds an archive of each NAME, and of
nothing else, with what belongs into it.
"""

import json
import pathlib
import re
import subprocess
import sys
import tarfile

WORKSPACES = ["Cargo.toml", "adapters/quiche/Cargo.toml", "adapters/msquic/Cargo.toml"]
# Those of the registry's categories that fit.
CATEGORIES = {
    "algorithms",
    "command-line-utilities",
    "database",
    "development-tools::testing",
    "encoding",
    "external-ffi-bindings",
    "network-programming",
    "no-std::no-alloc",
    "parser-implementations",
    "science",
    "simulation",
    "wasm",
}
# What the registry takes for a keyword, five at most.
KEYWORD = re.compile(r"[a-z0-9][a-z0-9_+-]{0,19}")
# Features whose dependencies want a newer compiler than the crate without them.
NEWER = {"ballista", "s2n-quic", "sql"}
HOLDS = {"Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"}
# At the top of an archive: these run in the repository only.
LACKS = {"benches", "examples", "target", "tests"}
BYTES = 500_000


def published():
    for workspace in WORKSPACES:
        read = subprocess.run(
            ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline", "--manifest-path", workspace],
            capture_output=True,
            text=True,
        )
        if read.returncode != 0:
            sys.exit(f"ci/packages.py: Cargo cannot read {workspace}: {read.stderr.strip()}")
        packages = [package for package in json.loads(read.stdout)["packages"] if package["publish"] != []]
        if not packages:
            sys.exit(f"ci/packages.py: {workspace} publishes nothing")
        for package in packages:
            yield workspace, package


def manifests():
    wrong = []
    for workspace, package in published():
        name, directory = package["name"], pathlib.Path(package["manifest_path"]).parent
        for field in ["description", "license", "repository", "rust_version", "readme"]:
            if not package[field]:
                wrong.append(f"{name} has no {field}")
        if package["readme"] and not (directory / package["readme"]).is_file():
            wrong.append(f"{name}: {package['readme']} is no file")
        if not 1 <= len(package["keywords"]) <= 5:
            wrong.append(f"{name} has {len(package['keywords'])} keywords; expected 1 to 5")
        wrong += [f"{name}: {word!r} is no keyword" for word in package["keywords"] if not KEYWORD.fullmatch(word)]
        if not 1 <= len(package["categories"]) <= 5:
            wrong.append(f"{name} has {len(package['categories'])} categories; expected 1 to 5")
        wrong += [f"{name}: {slug!r} is no category" for slug in package["categories"] if slug not in CATEGORIES]
        docs = ((package["metadata"] or {}).get("docs") or {}).get("rs") or {}
        if package["features"] and not docs:
            wrong.append(f"{name} has features and no [package.metadata.docs.rs]")
        for dependency in package["dependencies"]:
            if dependency["kind"] != "dev" and dependency.get("path") and dependency["req"] == "*":
                wrong.append(f"{name} depends on {dependency['name']} without a version")
        features = sorted(set(package["features"]) - NEWER - {"default"})
        documented = "--all-features" if docs.get("all-features") else "--features=" + ",".join(docs.get("features", []))
        print(name, package["rust_version"], workspace, "--features=" + ",".join(features), documented)
    return wrong


def archives(directory, names):
    wrong, seen = [], set()
    for path in sorted(pathlib.Path(directory).glob("*.crate")):
        name = path.name.rsplit("-", 1)[0]
        seen.add(name)
        with tarfile.open(path) as archive:
            held = [pathlib.PurePosixPath(member).parts[1:] for member in archive.getnames()]
        top = {parts[0] for parts in held if parts}
        print(f"{path.name}: {len(held)} files, {path.stat().st_size / 1000:.0f} kB")
        wrong += [f"{name} lacks {file}" for file in sorted(HOLDS - top)]
        wrong += [f"{name} holds {file}" for file in sorted(LACKS & top)]
        if path.stat().st_size > BYTES:
            wrong.append(f"{name} is larger than {BYTES / 1000:.0f} kB")
    wrong += [f"{name} was not packed" for name in sorted(set(names) - seen)]
    wrong += [f"{name} was packed, and is not to be published" for name in sorted(seen - set(names))]
    return wrong


def main():
    match sys.argv[1:]:
        case ["manifests"]:
            wrong = manifests()
        case ["archives", directory, *names] if names:
            wrong = archives(directory, names)
        case _:
            sys.exit(__doc__)
    for what in wrong:
        print(f"package: {what}", file=sys.stderr)
    sys.exit(bool(wrong))


main()
