"""first_figure.py NOTEBOOK: executes its cells until one shows a figure."""

import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
client = NotebookClient(notebook, timeout=300, kernel_name="python3")
with client.setup_kernel():
    for number, cell in enumerate(notebook.cells):
        client.execute_cell(cell, number)
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", [])):
            sys.exit()
sys.exit(f"{sys.argv[1]} has no figure")
