"""The study of what was typed: names in its file are checked before anything is measured."""

from pathlib import Path

import pytest

from tests.cli.typed import typed
from timpani.report.figures.figure import check_figure_names
from timpani.study.compose import ShippedStudy, shipped_studies

_STUDY = """
ranks = [2]
sizes = [8]

[collectives]
bcast = "default"

[figures.{figure}]
ranks = [2]
"""


@pytest.mark.parametrize("command", ["run", "tune"])
def test_a_figure_that_does_not_exist_is_named_when_the_file_is_read(command: str, tmp_path: Path) -> None:
    study = tmp_path / "mine.toml"
    study.write_text(_STUDY.format(figure="latency-agianst-size"))
    done = typed(command, study, "-o", tmp_path / "c")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"timpani: unknown figure in {study} 'latency-agianst-size'; did you mean latency-a")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("shipped", shipped_studies(), ids=lambda each: each.name)
def test_shipped_studies_ask_for_figures_that_exist(shipped: ShippedStudy) -> None:
    check_figure_names(shipped.study.figures, shipped.name)
