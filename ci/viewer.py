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
TRACES = ["decode", "quantities", "ends", "panels", "overlay", "compare", "query", "packets", "find", "sequence", "packetization", "multiplexing", "statistics", "requests", "address", "section", "list"]
OWN = ["program", "share", "opened", "scenario", "playground", "page"]
# What every page may run, and what this one may beside it: its program, in workers.
SCRIPTS_ALONE = "script-src 'unsafe-inline'"
WITH_PROGRAM = "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:"
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


def main():
    program, page = map(pathlib.Path, sys.argv[1:])
    code = program.read_bytes()
    if not code.startswith(b"\0asm"):
        fail(f"{program} is no WebAssembly")
    scripts = frame_scripts() + [REPORT / f"traces/js/{name}.js" for name in TRACES] + [PAGE / f"{name}.js" for name in OWN]
    styles = [REPORT / "frame/page.css", REPORT / "traces/page.css", PAGE / "page.css"]
    packed = base64.b64encode(zlib.compress(code, 9)).decode()
    slots = TEXTS | {
        "style": "".join(path.read_text() for path in styles),
        "scripts": '(() => {\n"use strict";\n' + "\n".join(path.read_text() for path in scripts) + "})();\n",
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
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(html)
    print(f"{page}: {len(html.encode()) / 1e6:.2f} MB, of which the program {len(packed) / 1e6:.2f}")


main()
