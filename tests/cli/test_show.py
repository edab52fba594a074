import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import typer
from typer.testing import CliRunner, Result

from tests.campaign_files import cell, cells, results_of, write_campaign
from timpani.cli.show import show
from timpani.errors import UserError

APP = typer.Typer()
APP.command()(show)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(APP, [str(argument) for argument in arguments])


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    times = [float(launch) for launch in range(1, 7)]
    results = results_of(cells({"default": {8: times, 1024: times}}), osu_avg_us=0.5)
    return write_campaign(tmp_path / "campaign", results, study={"datatype": "double"})


def test_output_goes_into_a_new_file_only(campaign: Path, tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    assert run(campaign, "--format", "csv", "-o", path).stdout == ""
    assert pl.read_csv(path).height == 2
    again = run(campaign, "--format", "json", "-o", path)
    assert isinstance(again.exception, UserError)
    assert "choose another name, or overwrite it with --force" in str(again.exception)
    assert pl.read_csv(path).height == 2
    assert run(campaign, "--format", "json", "-o", path, "--force").exception is None
    assert len(pl.read_json(path)) == 2


def measured_on(
    folder: Path, ranks: tuple[int, ...], algorithms: tuple[str, ...], kind: str, study: Mapping[str, object]
) -> Path:
    """A campaign of broadcasts with OSU's averages of ranks + launch µs, and completions twice as long."""
    times = {
        cell(name, size, ranks=count): [count + launch / 100 for launch in range(1, 7)]
        for name in algorithms
        for count in ranks
        for size in (1, 1048576)
    }
    simulated = kind == "simgrid"
    averages = results_of(times, machine="here", simulated=simulated)
    results = [replace(each, median_us=2 * (each.osu_avg_us or 0)) for each in averages]
    left_out = ["bcast openmpi/basic_linear: replaced by simgrid/flattree"] if simulated else []
    return write_campaign(folder, results, study=study, mpi={"kind": kind, "version": "5"}, left_out=left_out)


@pytest.mark.parametrize("layout", ["cells", "algorithms", "ranks"])
def test_tables_in_latex_fit_the_line_that_was_asked_for(tmp_path: Path, layout: str) -> None:
    algorithms = ("openmpi/default", *(f"openmpi/{name}" for name in ("chain", "binomial", "scatter_allgather_ring")))
    folder = measured_on(tmp_path / "c", tuple(range(2, 20, 2)), algorithms, "openmpi", {})
    tables = [
        run(folder, "--layout", layout, "--format", "latex", *width).stdout.count(r"\begin{tabular}")
        for width in (("--width", "60"), (), ("--width", "900"))
    ]
    assert tables == sorted(tables, reverse=True)
    assert tables[0] > tables[2]
    assert isinstance(run(folder, "--width", "85").exception, UserError)


def test_layout_ranks_as_csv_is_one_table_with_a_column_for_each_rank_count(tmp_path: Path) -> None:
    ranks = tuple(range(2, 26, 2))
    folder = measured_on(tmp_path / "c", ranks, ("openmpi/default", "openmpi/chain"), "openmpi", {})
    table = pl.read_csv(io.BytesIO(run(folder, "--layout", "ranks", "--format", "csv").stdout_bytes))
    assert table.shape == (4, 2 + 3 * len(ranks))
    assert table.columns[:5] == ["table", "size (B)", "2 ranks", "2 ranks, low", "2 ranks, high"]
    assert run(folder, "--layout", "ranks").stdout.count("Broadcast, chain") > 1, "it is wider than the terminal"


def test_a_stand_in_has_the_studys_name_and_a_footnote(tmp_path: Path) -> None:
    study = {"collectives": {"bcast": ["default", "openmpi/basic_linear", "mpich/binomial"]}}
    folder = measured_on(tmp_path / "c", (2,), ("simgrid/default", "simgrid/flattree"), "simgrid", study)
    for arguments in (("--layout", "ranks"), ("--layout", "algorithms"), ()):
        shown = run(folder, *arguments).stdout
        assert "basic_linear (bcast): simgrid/flattree stands in for openmpi/basic_linear." in shown
        assert shown.count("flattree") == 1
    assert run(folder, "--layout", "ranks", "--algorithms", "basic_linear").exit_code == 0
    assert "flattree" in run(folder, "--format", "csv").stdout
