"""docs/how-to/use-from-python.ipynb runs in Jupyter. Another test keeps it the same as the page."""

from pathlib import Path

import pytest

from tests.installed import needs_mpi, needs_two_cores

NOTEBOOK = Path(__file__).parents[2] / "docs/how-to/use-from-python.ipynb"


@needs_mpi
@needs_two_cores
def test_the_notebook_runs(tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="Jupyter is not installed: `make .venv/setup-tests`")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.execute(notebook, cwd=tmp_path, timeout=None)
    outputs = [each for cell in notebook.cells if cell.cell_type == "code" for each in cell.outputs]
    printed = "".join(each.text for each in outputs if each.output_type == "stream" and each.name == "stdout")
    assert "median_us" in printed
    assert "<campaign 'mine': allreduce, " in printed
    assert "vegaEmbed" in (page := (tmp_path / "first.html").read_text())
    assert 'src="http' not in page
