"""What goes into an archive beside what is built.

usage: release.py parts TARGET TREE      writes TREE/windlass.cdx.json, the crates that the command and libwindlass on TARGET and the
                                         viewer are made of (CycloneDX 1.5), and TREE/LICENSES.txt with the licences of each
       release.py licences TARGET CRATE… [-- CARGO ARGUMENT…]
                                         prints those of what is linked into these crates of the workspace here
       release.py pack TREE DIRECTORY    makes DIRECTORY/TREE.zip for Windows, DIRECTORY/TREE.tar.gz for others, the same of equal trees
"""

import gzip, io, json, pathlib, re, subprocess, sys, tarfile, tomllib, zipfile

PRODUCTS = ["windlass", "windlass-c"]
VIEWER = ("wasm32-wasip1", ["windlass-viewer"])
LICENCE = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)


def crates(target, products, *arguments):
    """The packages that are linked into products on a target, each with what it depends on."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target, *arguments]
    data = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in data["packages"]}
    needs = {
        node["id"]: sorted(dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"]))
        for node in data["resolve"]["nodes"]
    }
    todo = [id for id, package in packages.items() if package["name"] in products]
    if len(todo) != len(products):
        sys.exit(f"ci/release.py: the workspace has {len(todo)} of {', '.join(products)}")
    found = {}
    while todo:
        id = todo.pop()
        if id not in found:
            # What a macro brings runs while it is built, and is in nothing that is built.
            macro = any("proc-macro" in made["kind"] for made in packages[id]["targets"])
            found[id] = [] if macro else needs[id]
            todo += found[id]
    return {order(packages[id]): (packages[id], [packages[need] for need in found[id]]) for id in found}


def order(package):
    return package["name"], package["version"]


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def bill(target, parts):
    locked = tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]
    checksums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in locked}

    def component(package):
        made = {"type": "library", "bom-ref": purl(package), "name": package["name"], "version": package["version"], "purl": purl(package)}
        if package["license"]:
            made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if checksum := checksums.get(order(package)):
            made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return made

    product = next(package for package, _ in parts if package["name"] == PRODUCTS[0])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": component(product) | {"type": "application"},
            "properties": [{"name": "target", "value": target}],
        },
        "components": [component(package) for package, _ in parts if package is not product],
        "dependencies": [{"ref": purl(package), "dependsOn": sorted(map(purl, needs))} for package, needs in parts],
    }


def licences(parts):
    """Each text once, with the crates that have it; crates without one with what their manifest says."""
    texts, without = {}, []
    for package, _ in parts:
        if package["name"].startswith("windlass"):
            continue
        directory = pathlib.Path(package["manifest_path"]).parent
        # Libraries in C, and what others wrote of a crate, lie below it.
        places = [directory, *directory.glob("*/"), *directory.glob("*/*/")]
        found = (path for place in places for path in place.iterdir() if LICENCE.match(path.name))
        files = sorted(path for path in found if path.is_file() and path.suffix != ".rs")
        of = f"{package['name']} {package['version']}"
        for path in files:
            text = path.read_text(errors="replace").strip()
            texts.setdefault(" ".join(text.split()), (text, []))[1].append(of)
        if not files:
            if not package["license"]:
                sys.exit(f"ci/release.py: {of} names no licence")
            without.append(f"{of}: {package['license']}")
    head = "What others wrote and is part of this archive, with its licences. windlass itself: LICENSE-APACHE or LICENSE-MIT.\n"
    if without:
        head += "\nPackages without a text of their own, as their manifests say:\n" + "".join(f"  {line}\n" for line in without)
    for text, names in sorted(texts.values(), key=lambda entry: entry[1]):
        head += f"\n{'=' * 100}\n{', '.join(dict.fromkeys(names))}\n{'-' * 100}\n{text}\n"
    return head


def pack(tree, directory):
    """Names in order, one date, one owner: nothing of the machine."""
    tree = pathlib.Path(tree)
    paths = sorted(path for path in tree.rglob("*") if path.is_symlink() or path.is_file())
    named = [(f"{tree.name}/{path.relative_to(tree).as_posix()}", path) for path in paths]
    target = pathlib.Path(directory) / (tree.name + (".zip" if "-windows-" in tree.name else ".tar.gz"))
    if target.suffix == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in named:
                entry = zipfile.ZipInfo(name)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o755 << 16 if path.parent.name == "bin" else 0o644 << 16
                archive.writestr(entry, path.read_bytes())
    else:
        inner = io.BytesIO()
        with tarfile.open(fileobj=inner, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name, path in named:
                entry = tarfile.TarInfo(name)
                if path.is_symlink():
                    entry.type, entry.linkname = tarfile.SYMTYPE, str(path.readlink())
                    archive.addfile(entry)
                else:
                    entry.size, entry.mode = path.stat().st_size, 0o755 if path.parent.name == "bin" else 0o644
                    archive.addfile(entry, io.BytesIO(path.read_bytes()))
        target.write_bytes(gzip.compress(inner.getvalue(), 9, mtime=0))
    print(f"{target}: {len(named)} files, {target.stat().st_size / 1e6:.1f} MB")


def main():
    match sys.argv[1:]:
        case ["parts", target, tree]:
            found = crates(*VIEWER) | crates(target, PRODUCTS)
            parts = [found[key] for key in sorted(found)]
            (pathlib.Path(tree) / "windlass.cdx.json").write_text(json.dumps(bill(target, parts), indent=1) + "\n")
            (pathlib.Path(tree) / "LICENSES.txt").write_text(licences(parts))
            print(f"{len(parts)} crates")
        case ["licences", target, *rest]:
            names, arguments = (rest[: rest.index("--")], rest[rest.index("--") + 1 :]) if "--" in rest else (rest, [])
            found = crates(target, names, *arguments)
            print(licences([found[key] for key in sorted(found)]))
        case ["pack", tree, directory]:
            pack(tree, directory)
        case _:
            sys.exit(__doc__)


main()
