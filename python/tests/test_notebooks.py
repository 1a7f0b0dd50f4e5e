"""The example notebooks run, and show pictures."""

import copy
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)

#: What a cell shows, besides text.
PICTURES = ("text/html", "image/svg+xml")


def kinds(notebook):
    """Return what the outputs of each cell are: streams by name, or kinds of data."""
    cells = (cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    return [[output.get("name") or sorted(output.get("data", ())) for output in c] for c in cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_committed(path, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="skipped: nbclient is not installed")
    pytest.importorskip("ipykernel", reason="skipped: ipykernel is not installed")
    import nbformat

    committed = nbformat.read(path, as_version=4)
    for cell in committed.cells:
        for name in IMPORT.findall(cell.source) if cell.cell_type == "code" else ():
            pytest.importorskip(name, reason=f"skipped: {name} is not installed")
    notebook = copy.deepcopy(committed)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=where).execute()
    assert kinds(notebook) == kinds(committed)
    assert not any("stderr" in outputs for outputs in kinds(notebook))
    shown = [kind for outputs in kinds(notebook) for output in outputs for kind in output]
    assert sum(kind in PICTURES for kind in shown) >= 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_progress_is_one_display_that_changes(path):
    nbformat = pytest.importorskip("nbformat", reason="skipped: nbformat is not installed")
    cells = nbformat.read(path, as_version=4).cells
    cells = [cell for cell in cells if "progress=True" in cell.source]
    for cell in cells:
        shown = [o for o in cell.outputs if "training: " in o.get("data", {}).get("text/plain", "")]
        runs = 2 if "for name, more in" in cell.source else 1
        assert len(shown) == runs, cell.source
    assert cells or "progress=True" not in path.read_text("utf-8")
