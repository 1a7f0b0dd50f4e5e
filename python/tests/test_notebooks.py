"""The example notebooks run, and show what they have stored: pictures, text and numbers.

With DROPCHAIN_WRITE=1 their outputs are stored anew.
"""

import copy
import html
import os
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="skipped: nbformat is not installed")

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)

#: What a cell shows, besides text.
PICTURES = ("text/html", "image/svg+xml")

#: What is not text; and what differs from run to run.
HIDDEN = re.compile(r"<style.*?</style>|<iframe.*?</iframe>|<[^>]*>", re.DOTALL)
SECONDS = re.compile(r"\bseconds\s+[\d.]+")


def shown(notebook):
    """Return what the outputs of each cell are: their kinds with their words and numbers."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {output.get("name"): output.get("text", "")})
            for kind, text in sorted(data.items()):
                text = SECONDS.sub("seconds", html.unescape(HIDDEN.sub(" ", text)))
                found.append((cell.source, kind, text.split()))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored(path, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="skipped: nbclient is not installed")
    pytest.importorskip("ipykernel", reason="skipped: ipykernel is not installed")
    stored = nbformat.read(path, as_version=4)
    for cell in stored.cells:
        for name in IMPORT.findall(cell.source) if cell.cell_type == "code" else ():
            pytest.importorskip(name, reason=f"skipped: {name} is not installed")
    notebook = copy.deepcopy(stored)
    where = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources=where, record_timing=False
    )
    client.execute()
    if os.environ.get("DROPCHAIN_WRITE") == "1":
        notebook.metadata = stored.metadata
        nbformat.write(notebook, path)
        stored = notebook
    for new, old in zip(shown(notebook), shown(stored), strict=True):
        assert new == old
    kinds = [kind for _, kind, _ in shown(notebook)]
    assert "stderr" not in kinds
    assert sum(kind in PICTURES for kind in kinds) >= 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_progress_is_one_display_that_changes(path):
    cells = nbformat.read(path, as_version=4).cells
    cells = [cell for cell in cells if "progress=True" in cell.source]
    for cell in cells:
        displays = [o.get("data", {}).get("text/plain", "") for o in cell.outputs]
        runs = 2 if "for name, more in" in cell.source else 1
        assert sum("training: " in text for text in displays) == runs, cell.source
    assert cells or "progress=True" not in path.read_text("utf-8")
