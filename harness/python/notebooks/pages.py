"""pages.py DIRECTORY: executes the notebooks beside it and writes what they show into DIRECTORY, a page of Markdown each,
figures as SVG. An error in a cell, and a page of DIRECTORY that says anything else, are failures; with --write pages are
written anew."""

import argparse
import pathlib
import re
import sys

import nbformat
from nbclient import NotebookClient

# Equal figures are equal files, and their letters letters.
SETUP = """
%matplotlib inline
import matplotlib, matplotlib_inline.backend_inline
matplotlib_inline.backend_inline.set_matplotlib_formats("svg", metadata={"Date": None})
matplotlib.rcParams |= {"svg.hashsalt": "windlass", "svg.fonttype": "none", "path.simplify": True, "path.simplify_threshold": 1.0}
"""


def page(path):
    """The page of a notebook, and its figures by their names."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SETUP))
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    text, figures = [], {}
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown":
            text.append(cell.source)
            continue
        text.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            if output.output_type == "stream":
                if output.name == "stderr":
                    sys.exit(f"{path}: a cell wrote on standard error:\n{output.text}")
                text.append(f"```text\n{output.text.rstrip()}\n```")
            elif "image/svg+xml" in output.get("data", {}):
                name = f"{path.stem}-{len(figures) + 1}.svg"
                # Numbers to a hundredth of a point.
                svg = re.sub(r"(\d+\.\d{2})\d+", r"\1", output.data["image/svg+xml"])
                figures[name] = "".join(line.rstrip() + "\n" for line in svg.splitlines())
                text.append(f"![]({name})")
    note = f"This page is what the notebook [{path.name}](../../harness/python/notebooks/{path.name}) shows; `WINDLASS_ACCEPT_PAGES=1 ci/python pages` writes it."
    return "\n\n".join([text[0], note, *text[1:]]) + "\n", figures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    differ = []
    for path in sorted(pathlib.Path(__file__).parent.glob("*.ipynb")):
        markdown, figures = page(path)
        place = arguments.directory / f"{path.stem}.md"
        if arguments.write:
            place.write_text(markdown)
            for name, svg in figures.items():
                (arguments.directory / name).write_text(svg)
        elif place.read_text() != markdown:
            differ.append(place.name)
    if differ:
        sys.exit(f"other than the notebooks show: {', '.join(differ)}; WINDLASS_ACCEPT_PAGES=1 writes them")


main()
