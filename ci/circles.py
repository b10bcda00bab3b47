"""Circles of files: Rust files of one crate that take names from each other, in a ring.

A file takes a name from the file that defines it, whichever module hands it on. The file of a module may use what is in
its own folder, and what is there its types; tests are left out. Prints every circle that KNOWN does not have, with what
ties it, and fails; fails for one in KNOWN that is gone, too.
"""

import pathlib
import re
import subprocess
import sys

# Formats that contain each other: an array's elements are events, and events have arrays; a file in another framing is
# found inside one.
KNOWN = [
    {f"qlog-analysis/src/read/{file}.rs" for file in ("array", "event", "recovery")},
    {f"qlog-analysis/src/read/{file}.rs" for file in ("contained", "sequence")},
]

TESTS = re.compile(r"(^|/)(tests|testkit|benches|examples|targets)(/|\.rs$)|(^|/)build\.rs$")
DEFINED = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+|const\s+|async\s+|extern\s+\"C\"\s+)*"
    r"(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(?:mut\s+)?([A-Za-z_]\w*)",
    re.M,
)


def production(text):
    """The text without comments, strings and what is only compiled for tests."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text, flags=re.S)
    out, at = [], 0
    for found in re.finditer(r"#\[cfg\((?:all\()?test\b[^\]]*\]", text):
        if found.start() < at:
            continue
        out.append(text[at : found.start()])
        at = found.end()
        while at < len(text) and text[at] not in "{;":
            at += 1
        if at < len(text) and text[at] == "{":
            depth = 0
            while at < len(text):
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
                if depth == 0:
                    break
        else:
            at += 1
    return "".join(out) + text[at:]


def names(tree, prefix=()):
    """The paths of a use tree, each with the name it has here: (path, name)."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace >= 0 and tree.endswith("}"):
        head = tuple(part for part in re.split(r"::", tree[:brace].strip()) if part.strip())
        depth, start, inner = 0, 0, tree[brace + 1 : -1]
        for at, letter in enumerate(inner + ","):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                if inner[start:at].strip():
                    yield from names(inner[start:at], prefix + head)
                start = at + 1
        return
    path, _, alias = tree.partition(" as ")
    parts = prefix + tuple(part.strip() for part in path.split("::"))
    if parts[-1] == "self":
        parts = parts[:-1]
    yield parts, alias.strip() or parts[-1]


class Crate:
    def __init__(self, root):
        self.modules = {}
        self.visit(root, (), root.parent)

    def visit(self, file, module, directory):
        text = production(file.read_text())
        self.modules[module] = (file, text)
        for found in re.finditer(r"(#\[[^\]]*\]\s*)*\bmod\s+(\w+)\s*;", text):
            name = found.group(2)
            for place in (directory / f"{name}.rs", directory / name / "mod.rs"):
                if place.is_file():
                    self.visit(place, module + (name,), directory / name)
                    break

    def uses(self, module):
        """What a module has by `use`: name -> absolute path in the crate; globs apart."""
        _, text = self.modules[module]
        had, globs = {}, []
        for found in re.finditer(r"\buse\s+([^;]+);", text):
            for path, name in names(found.group(1)):
                absolute = self.absolute(module, path)
                if absolute is None:
                    continue
                if name == "*":
                    globs.append(absolute[:-1])
                else:
                    had[name] = absolute
        return had, globs

    def absolute(self, module, path):
        path = list(path)
        if path[0] == "crate":
            base, path = (), path[1:]
        elif path[0] == "self":
            base, path = module, path[1:]
        elif path[0] == "super":
            base = module
            while path and path[0] == "super":
                if not base:
                    return None
                base, path = base[:-1], path[1:]
        elif module + (path[0],) in self.modules:
            base = module
        else:
            return None
        return tuple(base) + tuple(path)

    def definer(self, path, seen=()):
        """The module that defines what `path` names; None if this crate does not."""
        if path in seen:
            return None
        module = path
        while module not in self.modules:
            module = module[:-1]
        rest = path[len(module) :]
        if not rest or rest[0] == "*":
            return module
        name = rest[0]
        if name in self.defined(module):
            return module
        had, globs = self.uses(module)
        if name in had:
            return self.definer(had[name] + rest[1:], seen + (path,))
        for glob in globs:
            if name in self.defined(glob):
                return glob
            if glob in self.modules and name in self.uses(glob)[0]:
                return self.definer(glob + rest, seen + (path,))
        return module

    def defined(self, module):
        return set(DEFINED.findall(self.modules[module][1])) if module in self.modules else set()

    def arrows(self):
        """file -> file -> the names it takes."""
        found = {}
        for module, (file, text) in self.modules.items():
            paths = []
            for use in re.finditer(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", text):
                # What is handed on is taken by those who use it.
                if not use.group(1):
                    paths += [path for path, _ in names(use.group(2))]
            body = re.sub(r"\b(pub(\([^)]*\))?\s+)?use\s+[^;]+;", "", text)
            paths += [tuple(path.split("::")) for path in re.findall(r"\b((?:crate|super|self)(?:::\w+)+)", body)]
            children = {child[-1] for child in self.modules if len(child) == len(module) + 1 and child[:-1] == module}
            paths += [tuple(path.split("::")) for path in re.findall(r"\b(\w+(?:::\w+)+)", body) if path.split("::")[0] in children]
            for path in paths:
                absolute = self.absolute(module, path)
                if absolute is None:
                    continue
                definer = self.definer(absolute)
                target = self.modules[definer][0]
                if definer[: len(module)] != module:
                    found.setdefault(file, {}).setdefault(target, set()).add(path[-1])
        return found


def circles(arrows):
    """Strongly connected components of more than one file (Tarjan)."""
    index, low, stack, on, out, counter = {}, {}, [], set(), [], [0]

    def visit(file):
        index[file] = low[file] = counter[0]
        counter[0] += 1
        stack.append(file)
        on.add(file)
        for target in arrows.get(file, {}):
            if target not in index:
                visit(target)
                low[file] = min(low[file], low[target])
            elif target in on:
                low[file] = min(low[file], index[target])
        if low[file] == index[file]:
            members = []
            while True:
                member = stack.pop()
                on.remove(member)
                members.append(member)
                if member == file:
                    break
            if len(members) > 1:
                out.append(sorted(members))

    for file in sorted(arrows):
        if file not in index:
            visit(file)
    return out


def main():
    sys.setrecursionlimit(10000)
    files = subprocess.run(["git", "ls-files", "*.rs"], check=True, capture_output=True, text=True).stdout.split()
    roots = [pathlib.Path(file) for file in files if re.search(r"(^|/)src/(lib|main)\.rs$", file) and not TESTS.search(file)]
    if not roots:
        sys.exit("ci/circles.py: git names no crate")
    failed, known, read = False, [], 0
    for root in roots:
        crate = Crate(root)
        arrows = {
            file: {to: names for to, names in targets.items() if not TESTS.search(str(to))}
            for file, targets in crate.arrows().items()
            if not TESTS.search(str(file))
        }
        read += len(crate.modules)
        for circle in circles(arrows):
            if set(map(str, circle)) in KNOWN:
                known.append(set(map(str, circle)))
                continue
            failed = True
            print(f"wall broken: {len(circle)} files take names from each other:", file=sys.stderr)
            for file in circle:
                for to in circle:
                    if to in arrows.get(file, {}):
                        print(f"  {file} -> {to}: {', '.join(sorted(arrows[file][to]))}", file=sys.stderr)
    for gone in [circle for circle in KNOWN if circle not in known]:
        failed = True
        print(f"wall broken: ci/circles.py names a circle that is gone: {', '.join(sorted(gone))}", file=sys.stderr)
    print(f"{read} files of {len(roots)} crates, {len(known)} known circles")
    sys.exit(failed)


main()
