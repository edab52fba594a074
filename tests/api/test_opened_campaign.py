"""Campaigns from Python: what is measured, read and drawn is what the command line measures, prints and draws."""

import io
import json
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import timpani
from tests.cli.typed import typed
from tests.installed import needs_mpi, needs_two_cores
from tests.report.conftest import synthetic_header, synthetic_launches, synthetic_results, write_campaign
from timpani.api import OpenedCampaign
from timpani.campaign.folder.load import load
from timpani.errors import UserError
from timpani.report.page.contents import Report
from timpani.report.page.figure_files import figure_files


def test_an_import_has_the_cells_that_show_writes(tmp_path: Path) -> None:
    imported = typed("import", "--published", "holt_osu_latency", "-o", tmp_path / "holt")
    assert imported.returncode == 0, imported.stderr
    written = typed("show", tmp_path / "holt", "--format", "parquet", "-o", tmp_path / "cells.parquet")
    assert written.returncode == 0, written.stderr
    cells = timpani.open(tmp_path / "holt").cells
    assert cells.height > 0
    assert repr(timpani.open(tmp_path / "holt")).startswith(f"<campaign '{tmp_path / 'holt'}': ")
    assert_frame_equal(pl.read_parquet(tmp_path / "cells.parquet"), cells)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> OpenedCampaign:
    notes: list[str] = []
    folder = tmp_path_factory.mktemp("api") / "mine"
    options: dict[str, Any] = {
        "ranks": 2,
        "sizes": [8, 1024],
        "algorithms": ["default", "timpani/ring"],
        "launches": 2,
        "slot": "10ms",
    }
    opened = timpani.measure("allreduce", folder=folder, note=notes.append, **options)
    assert any("programs from" in note for note in notes)
    return opened


@needs_mpi
@needs_two_cores
def test_tables_are_what_the_command_line_prints(measured: OpenedCampaign) -> None:
    assert measured.cells.height == 4
    printed = typed("show", str(measured.folder), "--format", "csv").stdout
    assert_frame_equal(
        pl.read_csv(io.StringIO(printed))["median_us"].to_frame(), measured.cells["median_us"].to_frame()
    )
    assert json.loads(typed("verdict", str(measured.folder), "--format", "json").stdout) == measured.verdict


@needs_mpi
@needs_two_cores
def test_samples_are_those_that_the_results_summarize(measured: OpenedCampaign) -> None:
    key = ["algorithm", "message_bytes", "launch"]
    medians = measured.samples.group_by(key).agg(pl.col("completion_us").median()).sort(key)
    results = measured.results.sort(key)
    assert medians.height == results.height == 8
    # A summary is rounded to a thousandth of a microsecond.
    assert (medians["completion_us"] - results["median_us"]).abs().max() <= 0.001  # type: ignore[operator]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> OpenedCampaign:
    few = [
        each
        for each in synthetic_results()
        if (each.cell.collective, each.cell.ranks) == ("scatter", 2) and each.cell.algorithm.name != "bruck"
    ]
    folder = tmp_path_factory.mktemp("written") / "campaign"
    return timpani.open(write_campaign(folder, synthetic_header(), few, synthetic_launches()))


@pytest.mark.slow
def test_figures_are_charts_by_family_and_name_as_their_files(written: OpenedCampaign) -> None:
    assert set(written.figures) == {str(file.path) for file in figure_files(Report(load(written.folder)))}
    assert {"latency-against-size/scatter", "speedup/scatter"} <= set(written.figures)
    assert all(isinstance(chart, alt.TopLevelMixin) for chart in written.figures.values())


def test_launches_have_every_recorded_field(written: OpenedCampaign, tmp_path: Path) -> None:
    launches = written.launches
    assert launches["launch"].to_list() == list(range(1, launches.height + 1))
    assert launches["environment"].to_list()[0] == [{"name": "OMPI_MCA_coll", "value": "^han"}]
    assert launches["binding_mistake"].null_count() == launches.height
    imported = typed("import", "--published", "holt_osu_latency", "-o", tmp_path / "holt")
    assert imported.returncode == 0, imported.stderr
    none = timpani.open(tmp_path / "holt").launches
    assert (none.height, none.columns) == (0, launches.columns)


@pytest.mark.parametrize("name", ["cells", "results", "launches", "samples", "decisions"])
def test_every_table_becomes_a_pandas_frame(written: OpenedCampaign, name: str) -> None:
    for module in ("pandas", "pyarrow"):
        pytest.importorskip(module, reason=f"{module} is not installed: `tools/setup test pandas`")
    table = getattr(written, name)
    assert table.to_pandas().shape == table.shape


@needs_mpi
def test_a_wrong_option_is_an_error_for_its_user(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="launchs"):
        timpani.measure("bcast", folder=tmp_path / "c", launchs=3)  # type: ignore[call-arg]
    assert not (tmp_path / "c").exists()
