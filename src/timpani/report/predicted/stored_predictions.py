"""Predictions to compare with measured times: those that `timpani predict` wrote, or by another campaign's costs."""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, model_validator

from timpani.campaign.folder.fields import Text
from timpani.campaign.folder.load import Campaign, load
from timpani.errors import UserError
from timpani.prediction.calibration import HOW_TO_MEASURE_COSTS
from timpani.prediction.campaign import predict_campaign
from timpani.prediction.comparable import library_of
from timpani.prediction.times import HIGH, LOW, PREDICTED
from timpani.report.predicted.prediction_output import FILE, JSON
from timpani.study.schema import MACHINE_CELL, schema
from timpani.study.sizes import show_size
from timpani.study.words import counted

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
