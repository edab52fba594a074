"""Predictions to compare with measured times: those that `timpani predict` wrote, or by another campaign's costs."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, model_validator

from timpani.campaign.folder.fields import Text
from timpani.campaign.folder.load import Campaign, check_one_machine, load, load_one_machine
from timpani.errors import UserError
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.libraries.find import first_mpi
from timpani.native.build import build_without_mpi
from timpani.report.document.blocks import MISSING, Table, Value, rows
from timpani.report.figures.columns import CALLS
from timpani.report.fit.fit_words import algorithm_of
from timpani.report.tables.conditions import conditions_of
from timpani.schedules.algorithms.simulation import NotSimulated, SimulatedCall, Simulator
from timpani.schedules.algorithms.verification import own_catalogue
from timpani.schedules.predict.calibration import HOW_TO_MEASURE_COSTS, Calibration, calibrate, require_calibration
from timpani.schedules.predict.model_error import COVERAGE
from timpani.schedules.predict.observed import call_of, library_of, places_of
from timpani.schedules.predict.output import FILE, JSON
from timpani.schedules.predict.predictions import predict
from timpani.stats.curve import TIME, curve_title
from timpani.study.schema import CURVE, MACHINE_CELL, MEASURED_US, is_timpani_schedule, schema
from timpani.study.sizes import show_size, show_sizes
from timpani.study.words import counted, four_digits, per_cent

PREDICTED, LOW, HIGH = "predicted_us", "predicted_low_us", "predicted_high_us"
RATIO = "ratio"


def predicted_times(
    cells: pl.DataFrame,
    calibration: Calibration,
    simulator: Simulator,
    call_of: Callable[[dict[str, Any]], SimulatedCall],
    apart: Collection[tuple[str, str]] = (),
    from_others: bool = False,
) -> tuple[pl.DataFrame, list[str]]:
    """Predicted times of Timpani's algorithms in the cells where they were measured.

    cells        columns of `estimate_cells`; other algorithms, and cells without a time, are skipped
    call_of      gives the call of a cell
    apart        algorithms to skip, by collective and name
    from_others  use the leave-one-out prediction of each algorithm; the calibration is from these cells

    Columns: CURVE, `message_bytes`, TIME, PREDICTED, its interval LOW and HIGH (null if unknown) and RATIO = predicted
    / measured. Also returns a sentence for each curve and reason without a prediction; such cells have no row.
    """
    own = cells.filter(is_timpani_schedule()).with_columns(MEASURED_US.alias(TIME))
    own = own.filter(
        pl.col(TIME) > 0, ~pl.concat_str("collective", "algorithm", separator="/").is_in([*map("/".join, apart)])
    ).select(*CURVE, "message_bytes", TIME)
    calls = [call_of(row) for row in own.iter_rows(named=True)]
    left = dict(zip((each.call for each in calibration.observations), calibration.left_out, strict=True))
    answers = predict(simulator, calibration, calls)
    rows: list[tuple[float | None, float | None, float | None, str | None]] = []
    for row, call, answer in zip(own.iter_rows(named=True), calls, answers, strict=True):
        if isinstance(answer, NotSimulated):
            rows.append((None, None, None, answer.why))
            continue
        if from_others and call in left:
            answer = answer.scaled(left[call] * row[TIME] / answer.time)
        rows.append((answer.time, answer.low, answer.high, None))
    types = {PREDICTED: pl.Float64(), LOW: pl.Float64(), HIGH: pl.Float64(), "why": pl.String()}
    table = pl.concat([own, pl.DataFrame(rows, schema=types, orient="row")], how="horizontal")
    left_out = [
        f"{curve_title(part.row(0, named=True))} at {show_sizes(part['message_bytes'])}: {part['why'][0]}"
        for _, part in table.drop_nulls("why").group_by(*CURVE, "why", maintain_order=True)
    ]
    predicted = table.filter(pl.col("why").is_null()).drop("why")
    return predicted.with_columns((pl.col(PREDICTED) / pl.col(TIME)).alias(RATIO)), left_out


@dataclass(frozen=True)
class Prediction:
    """times: of `predicted_times`; left_out: cells without a prediction, with the reason.

    from_others  each algorithm was predicted from the campaign's other algorithms
    """

    times: pl.DataFrame
    calibration: Calibration
    from_others: bool
    left_out: list[str]


def predict_campaign(campaign: Campaign, costs_from: Path | None) -> Prediction | None:
    """The prediction of `campaign`; None where it has no Timpani algorithm, or no measured costs.

    `costs_from` is another campaign to take the costs from. UserError if it has none, if a campaign is of several
    machines, and if the simulator can't be built. The simulator doesn't depend on the MPI library.
    """
    cells = estimate_cells(raced_results(campaign.of_variant())).filter(is_timpani_schedule())
    if cells.is_empty():
        return None
    check_one_machine(campaign)
    mpi = first_mpi()
    simulator = Simulator(build_without_mpi(mpi))
    if costs_from is None:
        found = calibrate(simulator, [campaign])
    else:
        found = require_calibration(simulator, [load_one_machine(costs_from)])
    if found is None:
        return None
    places = places_of(campaign)
    element_bytes = campaign.header.study.element_bytes_of
    # Costs that are the same for all pairs of ranks can't distinguish near ranks from far ones.
    apart = [] if found.relations else [(i.collective, i.name) for i in own_catalogue(mpi) if i.restrictions.topology]
    times, left_out = predicted_times(
        cells,
        found,
        simulator,
        lambda row: call_of(row, element_bytes(row["collective"]), places.get((row["ranks"], row["placement"]), ())),
        apart,
        from_others=costs_from is None,
    )
    from_others = costs_from is None and found.error is not None
    return Prediction(times, found, from_others, left_out) if times.height or left_out else None


_KEY = ("collective", "provider", "algorithm", "parameters", "ranks", "placement", "message_bytes")

_Time = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0, lt=2**62)]


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    collective: Text
    provider: Text
    algorithm: Text
    parameters: Text
    ranks: _Count
    message_bytes: _Count
    predicted_us: _Time
    low_us: _Time | None
    high_us: _Time | None

    @model_validator(mode="after")
    def _in_order(self) -> "_Row":
        if (self.low_us or self.predicted_us) > self.predicted_us or (self.high_us or inf) < self.predicted_us:
            raise ValueError("its interval doesn't hold it")
        return self


class _File(BaseModel):
    model_config = ConfigDict(strict=True)

    status: Literal["predicted", "predicted+simulated"]
    machine: Text | None
    placement: Text
    campaigns: list[Text]
    library: Text
    left_out: list[Text]
    predictions: list[_Row]


_FITTED = (
    "Their costs were estimated from this same campaign: that is how well the model fits, not how well it predicts."
)
_FROM_OTHERS = "The intervals are as wide as these very errors, so that they hold here says nothing."


@dataclass(frozen=True)
class StoredPredictions:
    """Predicted times.

    times       columns that name cells, as many as the prediction distinguishes, PREDICTED, LOW and HIGH
    about       by what, in words
    caution     a sentence, where the very cells that are predicted had a part in it; else empty
    left_out    what could not be predicted, and why, a sentence each
    """

    times: pl.DataFrame
    about: str
    caution: str = ""
    left_out: tuple[str, ...] = ()

    def compared(self, cells: pl.DataFrame) -> pl.DataFrame:
        """The calls among `cells` (columns of `estimate_cells`) with a prediction, as in `PredictedComparison`."""
        return compare_predicted(cells, self).cells

    def sentence(self, cells: pl.DataFrame) -> str:
        """How far predictions are off, how many intervals hold, what is not predicted and why."""
        return predicted_sentence(compare_predicted(cells, self))

    def tables(self, compared: pl.DataFrame) -> list[Table]:
        """A table for each curve."""
        return predicted_tables(compared)


def stored_predictions(path: Path, campaign: Campaign) -> StoredPredictions:
    """The predictions in the folder `path`, or of `campaign` by the costs of the campaign there.

    UserError where it is neither, and where no costs can be estimated.
    """
    if (path / "campaign.json").exists():
        return _by_campaign(path, campaign)
    try:
        found = FILE.read(path / JSON, _File.model_validate)
    except FileNotFoundError:
        raise UserError(f"{path} holds no predictions", FILE.step) from None
    rows = [
        {**row.model_dump(), "placement": found.placement, LOW: row.low_us, HIGH: row.high_us}
        for row in found.predictions
    ]
    types = {**schema(*_KEY), PREDICTED: pl.Float64(), LOW: pl.Float64(), HIGH: pl.Float64()}
    times = pl.DataFrame(rows, schema=types)
    if (twice := times.filter(times.select(_KEY).is_duplicated())).height:
        row = twice.row(0, named=True)
        cell = (
            f"{row['collective']} {row['algorithm']} on {counted(row['ranks'], 'rank')}, "
            f"{show_size(row['message_bytes'])}"
        )
        raise UserError(f"{path / JSON} predicts {cell} more than once", FILE.step)
    where = f" on {found.machine}" if found.machine else ""
    about = (
        f"{found.status.replace('+', ' and ')}{where}, ranks placed by {found.placement}, by costs of {found.library}"
    )
    measured_on = campaign.header.machine.name
    if found.machine and measured_on and found.machine != measured_on:
        about += f"; measured on {measured_on}"
    caution = _FITTED if campaign.header.id in found.campaigns else ""
    return StoredPredictions(times, _with_library(about, found.library, campaign), caution, tuple(found.left_out))


def _by_campaign(path: Path, campaign: Campaign) -> StoredPredictions:
    itself = load(path).header.id == campaign.header.id
    prediction = predict_campaign(campaign, None if itself else path)
    if prediction is None:
        raise UserError(f"{path} has too few of Timpani's algorithms to estimate costs", HOW_TO_MEASURE_COSTS)
    times = prediction.times.select(*MACHINE_CELL, PREDICTED, LOW, HIGH)
    left_out = tuple(prediction.left_out)
    if itself:
        how, caution = "each algorithm predicted from what the others took", _FROM_OTHERS
        return StoredPredictions(times, how, caution if prediction.from_others else _FITTED, left_out)
    library = prediction.calibration.library
    about = f"by the costs of {path.resolve().name}, measured by {library}"
    return StoredPredictions(times, _with_library(about, library, campaign), left_out=left_out)


def _with_library(about: str, library: str, campaign: Campaign) -> str:
    """With the library of the measured times, where that is another than that of the costs."""
    measured = library_of(campaign)
    return about if measured == library else f"{about}; measured times are of {measured}"


_TIME = "measured_us"


@dataclass(frozen=True)
class PredictedComparison:
    """Measured cells with their predictions.

    cells     columns of `estimate_cells`, the measured time, PREDICTED, LOW, HIGH and RATIO = predicted / measured;
              `meet`: whether the intervals do, and `held`: whether the predicted one has the measured time; null
              without an interval
    left_out  how many cells have no prediction, by why
    """

    cells: pl.DataFrame
    left_out: dict[str, int]
    predictions: StoredPredictions


def compare_predicted(cells: pl.DataFrame, predicted: StoredPredictions) -> PredictedComparison:
    """The calls among `cells` (columns of `estimate_cells`) with what was predicted of them."""
    key = [name for name in predicted.times.columns if name not in (PREDICTED, LOW, HIGH)]
    joined = (
        cells.filter(CALLS)
        .with_columns(MEASURED_US.alias(_TIME))
        .join(predicted.times, on=key, how="left", maintain_order="left")
    )
    reasons = joined.filter(pl.col(PREDICTED).is_null() | pl.col(_TIME).is_null()).select(_missing_reason())
    low, high = (pl.coalesce(bound, _TIME) for bound in ("ci_low_us", "ci_high_us"))
    found = joined.filter(pl.col(PREDICTED).is_not_null(), pl.col(_TIME) > 0).with_columns(
        (pl.col(PREDICTED) / pl.col(_TIME)).alias(RATIO),
        ((pl.col(LOW) <= high) & (pl.col(HIGH) >= low)).alias("meet"),
        pl.col(_TIME).is_between(LOW, HIGH).alias("held"),
    )
    return PredictedComparison(found, dict(Counter(reasons["why"])), predicted)


def predicted_sentence(compared: PredictedComparison) -> str:
    """How far predictions are off, how many intervals hold, what is not predicted and why."""
    left = "; ".join(f"{counted(count, 'cell')} {why}" for why, count in compared.left_out.items())
    missing = f" Not predicted: {left}." if left else ""
    cells = compared.cells
    if cells.is_empty():
        return f"No measured cell was predicted ({compared.predictions.about}).{missing}"
    off = [max(ratio, 1 / ratio) for ratio in cells[RATIO]]
    worst = cells.row(off.index(max(off)), named=True)
    held = cells["held"].drop_nulls().to_list()
    holds = (
        f"their {per_cent(COVERAGE)} intervals hold the measured time in {sum(held)} of {len(held)} "
        f"({sum(held) / len(held):.0%})"
        if held
        else "they have no interval, since too little was measured"
    )
    caution = f" {compared.predictions.caution}" if compared.predictions.caution else ""
    return (
        f"Of {counted(len(cells), 'cell')} ({compared.predictions.about}) half are off by a factor of "
        f"{median(off):.2f} or more, at worst by {max(off):.2f} ({worst['collective']} {algorithm_of(worst)} of "
        f"{show_size(worst['message_bytes'])} on {counted(worst['ranks'], 'rank')}); {holds}."
        f"{caution}{_doubtful(cells)}{missing}"
    )


def predicted_tables(cells: pl.DataFrame) -> list[Table]:
    """A table for each curve, of `PredictedComparison.cells`."""
    found = []
    for _, part in cells.group_by(CURVE, maintain_order=True):
        curve = part.row(0, named=True)
        caption = f"{algorithm_of(curve)}, {counted(curve['ranks'], 'rank')}, {conditions_of(curve)}"
        columns = ("Size", "Measured, µs", "Predicted, µs", "Predicted / measured", "Intervals meet")
        entries = (
            (
                Value(row["message_bytes"], show=show_size),
                Value(row[_TIME], row["ci_low_us"], row["ci_high_us"], show=four_digits),
                Value(row[PREDICTED], row[LOW], row[HIGH], show=four_digits),
                Value(row[RATIO], show="{:.2f}".format),
                MISSING if row["meet"] is None else "yes" if row["meet"] else "no",
            )
            for row in part.iter_rows(named=True)
        )
        found.append(Table("predicted", columns, rows(entries), caption))
    return found


def _missing_reason() -> pl.Expr:
    """Why a cell has no prediction."""
    return (
        pl.when(pl.col(_TIME).is_null())
        .then(pl.lit("without a measured time"))
        .when(is_timpani_schedule())
        .then(pl.lit("of algorithms, rank counts, sizes or placements that nobody predicted"))
        .otherwise(pl.lit("of algorithms whose schedules aren't Timpani's own"))
        .alias("why")
    )


def _doubtful(cells: pl.DataFrame) -> str:
    """What is to be known of the measured times."""
    statuses = [
        (cells["status"].str.split("+").list.contains(status).sum(), words)
        for status, words in (
            ("oversubscribed", "had more ranks than cores"),
            ("not_converged", "had not converged"),
            ("simulated", "were simulated, not measured"),
        )
    ]
    counts = ", ".join(f"{count} {words}" for count, words in statuses if count)
    return f" Of the measured cells {counts}." if counts else ""
