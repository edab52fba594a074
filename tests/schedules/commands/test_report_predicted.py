"""Predictions compared with a campaign whose times are what known costs say."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl

from tests.cli.typed import typed
from tests.installed import needs_mpi
from tests.schedules.commands.test_predict import SIZES, measured
from timpani.campaign.folder.load import load
from timpani.campaign.folder.sealed import seal_object
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.schedules.predict.output import FILE
from timpani.schedules.predict.stored import (
    HIGH,
    LOW,
    PREDICTED,
    StoredPredictions,
    compare_predicted,
    predicted_sentence,
    stored_predictions,
)

pytestmark = needs_mpi

__all__ = ["measured"]

KEY = ("collective", "provider", "algorithm", "parameters", "ranks", "message_bytes")


def cells(measured: Path) -> pl.DataFrame:
    return estimate_cells(raced_results(load(measured)))


def predictions(cells: pl.DataFrame, off: float, half: float | None) -> StoredPredictions:
    """Each cell predicted as `off` times what it took, between 1 / half and half of that."""
    time = pl.col("median_us") * off
    bound = pl.lit(half, pl.Float64)
    times = cells.select(*KEY, time.alias(PREDICTED), (time / bound).alias(LOW), (time * bound).alias(HIGH))
    return StoredPredictions(times, "made up")


def test_the_sentence_says_how_far_off_how_many_hold_and_what_is_missing(measured: Path) -> None:
    there = cells(measured)
    some = there.filter(pl.col("algorithm") != "linear")
    predicted = predictions(some, 1.5, 1.2)
    compared = compare_predicted(there, predicted)
    assert compared.cells["held"].to_list() == [False] * some.height
    sentence = predicted_sentence(compared)
    assert f"Of {some.height} cells (made up) half are off by a factor of 1.50 or more" in sentence
    assert f"hold the measured time in 0 of {some.height} (0%)" in sentence
    missing = there.height - some.height
    assert (
        f"Not predicted: {missing} cells of algorithms, rank counts, sizes or placements that nobody predicted"
        in sentence
    )
    wide = predicted_sentence(compare_predicted(there, predictions(some, 1 / 1.5, 2.0)))
    assert "by a factor of 1.50 or more" in wide
    assert f"in {some.height} of {some.height} (100%)" in wide
    assert "they have no interval" in predicted_sentence(compare_predicted(there, predictions(some, 1.5, None)))
    of_another = there.with_columns(pl.lit("openmpi").alias("provider"))
    assert "No measured cell was predicted" in predicted_sentence(compare_predicted(of_another, predicted))
    assert "of algorithms whose schedules aren't Timpani's own" in predicted_sentence(
        compare_predicted(of_another, predicted)
    )


def test_a_report_has_a_table_and_the_sentence(measured: Path, tmp_path: Path) -> None:
    asked = ("--ranks", "4,16", "--sizes", ",".join(map(str, SIZES)), "--algorithms", "binomial,pipeline")
    assert typed("predict", "bcast", "--costs", measured, *asked, "-o", tmp_path / "predictions").returncode == 0
    done = typed("report", measured, "--predicted", tmp_path / "predictions", "-o", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    assert "Of 12 cells (predicted, ranks placed by core, by costs of " in done.stdout
    assert "how well the model fits, not how well it predicts" in done.stdout
    assert "Not predicted: 36 cells of algorithms" in done.stdout
    page = (tmp_path / "report.html").read_text()
    assert '<section id="predicted"' in page
    assert "Intervals meet" in page
    files = typed("report", measured, "--predicted", tmp_path / "predictions", "--figures", tmp_path / "files")
    assert files.returncode == 0, files.stderr
    assert "Predicted / measured" in (tmp_path / "files/tables/predicted.csv").read_text()
    itself = typed("report", measured, "--predicted", measured, "-o", tmp_path / "itself.html")
    assert "Of 48 cells (each algorithm predicted from what the others took)" in itself.stdout, itself.stderr
    assert "how well the model fits" not in itself.stdout
    assert "that they hold here says nothing" in itself.stdout
    plain = typed("report", measured, "-o", tmp_path / "plain.html")
    assert (plain.returncode, "predicted" in plain.stdout) == (0, False)
    assert '<section id="predicted"' not in (tmp_path / "plain.html").read_text()


def test_a_copy_of_the_campaign_is_known_by_its_id(measured: Path, tmp_path: Path) -> None:
    predicted: dict[str, object] = {"status": "predicted", "machine": "larger", "placement": "core", "left_out": []}
    write_sealed(tmp_path, {**predicted, "campaigns": ["17"], "library": "MPICH 4.0.2", "predictions": []})
    campaign = load(measured)
    cautions = [
        stored_predictions(tmp_path, replace(campaign, header=campaign.header.model_copy(update={"id": each}))).caution
        for each in ("17", "18")
    ]
    assert "how well the model fits" in cautions[0]
    assert not cautions[1]


def write_sealed(folder: Path, values: dict[str, object]) -> None:
    (folder / "predictions.json").write_bytes(seal_object(json.dumps(values).encode(), FILE.sealed_for))


def test_an_invalid_prediction_is_refused_in_one_line(measured: Path, tmp_path: Path) -> None:
    about: dict[str, object] = {"status": "predicted", "machine": None, "placement": "core"}
    cell = {"collective": "bcast", "provider": "timpani", "algorithm": "linear", "parameters": "", "ranks": 4}
    row = {**cell, "message_bytes": 8, "predicted_us": 1.0, "low_us": None, "high_us": None}

    def sealed(*rows: dict[str, object]) -> bytes:
        values = {**about, "left_out": [], "campaigns": [], "library": "Open MPI 4.1.4", "predictions": rows}
        return seal_object(json.dumps(values).encode(), FILE.sealed_for)

    for content, says in (
        (None, "holds no predictions"),
        (sealed(row)[:-2], "it has no checksum"),
        (sealed(row).replace(b"1.0", b"2.0"), "it was changed since it was written"),
        (seal_object(b'{"predictions": []}', FILE.sealed_for), "status is missing"),
        (sealed({**row, "low_us": 2.0, "high_us": 3.0}), "predictions.0"),
        (sealed({**row, "predicted_us": -1.0}), "predicted_us"),
        (sealed(row, row), "predicts bcast linear on 4 ranks, 8 B more than once"),
    ):
        if content:
            (tmp_path / "predictions.json").write_bytes(content)
        done = typed("report", measured, "--predicted", tmp_path, "-o", tmp_path / "report.html")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert says in done.stderr
        assert not (tmp_path / "report.html").exists()
