"""corpus.py CONTROL INPUTS KEPT COUNT: copies inputs that reach the most into KEPT.

CONTROL is the control file of a merge of libFuzzer's (`-set_cover_merge=1 -merge_control_file=CONTROL`): the names of all
inputs, then the features that each reaches. Of those in the directory INPUTS the one is taken, again and again, that adds the
most to what all others of the merge and those taken so far reach, until KEPT holds COUNT files or nothing is added."""

import hashlib
import pathlib
import sys


def reached(control):
    """Each input's path and the set of its features."""
    lines = control.read_text().splitlines()
    files = int(lines[0])
    paths = [pathlib.Path(line) for line in lines[2 : 2 + files]]
    features = [set() for _ in paths]
    for line in lines[2 + files :]:
        kind, *numbers = line.split()
        if kind == "FT":
            features[int(numbers[0])].update(map(int, numbers[1:]))
    if not any(features):
        sys.exit(f"{control}: no input reaches anything: expected lines FT of a merge")
    return list(zip(paths, features))


def chosen(inputs, covered, count):
    """At most `count` of `inputs` that add the most to `covered`, the smaller of two that add the same."""
    inputs = sorted(inputs, key=lambda one: (one[0].stat().st_size, one[0].name))
    for _ in range(count):
        path, features = max(inputs, key=lambda one: len(one[1] - covered), default=(None, set()))
        if not features - covered:
            return
        covered |= features
        yield path


def main():
    control, inputs, kept = map(pathlib.Path, sys.argv[1:4])
    count = int(sys.argv[4])
    kept.mkdir(parents=True, exist_ok=True)
    all_inputs = reached(control)
    ours = [one for one in all_inputs if one[0].parent == inputs]
    covered = set().union(*(features for path, features in all_inputs if path.parent != inputs))
    room = count - sum(1 for _ in kept.iterdir())
    before = len(covered)
    for path in chosen(ours, covered, max(room, 0)):
        content = path.read_bytes()
        (kept / hashlib.sha256(content).hexdigest()[:12]).write_bytes(content)
    print(f"{kept}: {sum(1 for _ in kept.iterdir())} inputs, {len(covered) - before} features more than the seeds' {before}")


main()
