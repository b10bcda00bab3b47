"""Makes windlass-viewer.html: `viewer.py PROGRAM PAGE`.

The page is the frame of all reports (harness/cli/src/report/frame), the scripts that draw traces
there, the scripts and style of qlog-analysis/viewer/page, and PROGRAM, which is WebAssembly.
"""

import base64
import pathlib
import re
import sys
import zlib

REPORT = pathlib.Path("harness/cli/src/report")
PAGE = pathlib.Path("qlog-analysis/viewer/page")
# In this order, after those of the frame.
TRACES = ["shown", "decode", "quantities", "ends", "panels", "overlay", "compare", "query", "packets", "find", "sequence", "packetization", "multiplexing", "statistics", "requests", "events", "endpoints", "address", "section", "list"]
OWN = ["program", "share", "opened", "scenario", "playground", "page"]
# What every page may run, and what this one may beside it: its program, in workers.
SCRIPTS_ALONE = "script-src 'unsafe-inline'"
WITH_PROGRAM = "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:"
# A page that is mailed has to be small.
MOST_BYTES = 1_500_000
TEXTS = {
    "title": "windlass viewer",
    "skip": "Skip to the traces",
    "contents": "Views",
    "asks": "",
    "noscript": "This page reads traces with scripts and WebAssembly of its own. Allow scripts, or use <code>windlass qlog report</code>.",
}


def fail(text):
    sys.exit(f"ci/viewer.py: {text}")


def frame_scripts():
    """The frame's own list, so that there is one."""
    found = re.findall(r'include_str!\("(js/\w+\.js)"\)', (REPORT / "frame/mod.rs").read_text())
    if not found:
        fail(f"{REPORT}/frame/mod.rs names no scripts")
    return [REPORT / "frame" / name for name in found]


def without_comments(path):
    """A script without lines that are comments and without indentation."""
    lines, within = [], False
    for line in map(str.strip, path.read_text().splitlines()):
        if within or line.startswith(("//", "/*")):
            within = (within or line.startswith("/*")) and not line.endswith("*/")
            continue
        if line.count("`") % 2:
            fail(f"{path}: a text goes over several lines: {line}")
        if line:
            lines.append(line)
    return "\n".join(lines)


def main():
    program, page = map(pathlib.Path, sys.argv[1:])
    code = program.read_bytes()
    if not code.startswith(b"\0asm"):
        fail(f"{program} is no WebAssembly")
    scripts = frame_scripts() + [REPORT / f"traces/js/{name}.js" for name in TRACES] + [PAGE / f"{name}.js" for name in OWN]
    styles = [REPORT / "frame/page.css", REPORT / "traces/page.css", PAGE / "page.css"]
    # Base 85 has a quarter more letters than bytes, where base 64 has a third; the page's scripts read it.
    packed = base64.b85encode(zlib.compress(code, 9)).decode().translate(str.maketrans("<`", ",."))
    slots = TEXTS | {
        "style": "".join(path.read_text() for path in styles),
        "scripts": '(() => {\n"use strict";\n' + "\n".join(map(without_comments, scripts)) + "\n})();\n",
        "data": f'<script type="text/plain" id="program">{packed}</script>\n',
    }
    html = (REPORT / "frame/page.html").read_text()
    if html.count(SCRIPTS_ALONE) != 1:
        fail("the frame's content-security policy does not say what scripts may run")
    html = html.replace(SCRIPTS_ALONE, WITH_PROGRAM)
    unknown = set(re.findall(r"\{\{(\w+)\}\}", html)) - slots.keys()
    if unknown:
        fail(f"the frame asks for {', '.join(sorted(unknown))}")
    html = re.sub(r"\{\{(\w+)\}\}", lambda slot: slots[slot[1]], html)
    size = len(html.encode())
    if size > MOST_BYTES:
        fail(f"{page} has {size} bytes; expected {MOST_BYTES} at most")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(html)
    print(f"{page}: {size / 1e6:.2f} MB, of which the program {len(packed) / 1e6:.2f}")


main()
