"""Predictions that stand beside measured times: those that `timpani predict` wrote, or by another campaign's costs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from timpani.campaign.fields import Text
from timpani.campaign.load import Campaign
from timpani.errors import UserError, wrong
from timpani.prediction.calibration import NONE_MEASURED
from timpani.prediction.campaign import predict_campaign
from timpani.prediction.times import HIGH, LOW, PREDICTED
from timpani.reading import parse_json, read_bytes
from timpani.report.predicted import JSON
from timpani.study.cell import OWN
from timpani.study.counted import counted
from timpani.study.schema import MACHINE_CELL, schema
from timpani.study.sizes import show_size

_STEP = "name what `timpani predict -o` wrote, or a campaign that tells costs"
_KEY = ("collective", "provider", "algorithm", "parameters", "ranks", "placement", "message_bytes")

_Time = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0, lt=2**62)]


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    collective: Text
    provider: Text = OWN  # files of earlier versions have ours alone
    algorithm: Text
    parameters: Text
    ranks: _Count
    message_bytes: _Count
    predicted_us: _Time
    low_us: _Time | None
    high_us: _Time | None


class _File(BaseModel):
    model_config = ConfigDict(strict=True)

    machine: Text | None
    placement: Text
    costs_from: list[str]
    left_out: list[Text]
    predictions: list[_Row]


@dataclass(frozen=True)
class Foretold:
    """Predicted times.

    times       columns that name cells, as many as the prediction tells apart, PREDICTED, LOW and HIGH
    about       by what, in words
    same_cells  whether the costs come from the very cells that are predicted
    left_out    what could not be predicted, and why, a sentence each
    """

    times: pl.DataFrame
    about: str
    same_cells: bool = False
    left_out: tuple[str, ...] = ()


def foretold(path: Path, campaign: Campaign) -> Foretold:
    """The predictions in the folder `path`, or of `campaign` by the costs of the campaign there.

    UserError where it is neither, and where nothing tells costs.
    """
    if (path / "campaign.json").exists():
        return _by_campaign(path, campaign)
    try:
        found = _File.model_validate(parse_json(read_bytes(path / JSON, _STEP)))
    except FileNotFoundError:
        raise UserError(f"{path} holds no predictions", _STEP) from None
    except ValidationError as error:
        raise UserError(f"{path / JSON} holds no predictions: {wrong(dict(error.errors()[0]))}", _STEP) from None
    except ValueError as error:
        raise UserError(f"{path / JSON} can't be read ({error})", _STEP) from None
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
        raise UserError(f"{path / JSON} predicts {cell} more than once", _STEP)
    where = f" on {found.machine}" if found.machine else ""
    return Foretold(
        times,
        f"predicted{where}, ranks placed by {found.placement}",
        str(campaign.folder.resolve()) in found.costs_from,
        tuple(found.left_out),
    )


def _by_campaign(path: Path, campaign: Campaign) -> Foretold:
    itself = path.resolve() == campaign.folder.resolve()
    prediction = predict_campaign(campaign, None if itself else path)
    if prediction is None:
        raise UserError(f"{path} tells nothing of {campaign.folder}: too few algorithms of ours", NONE_MEASURED)
    how = "each algorithm predicted from what the others took" if itself else f"by the costs of {path.resolve().name}"
    same_cells = itself and not prediction.from_others
    times = prediction.times.select(*MACHINE_CELL, PREDICTED, LOW, HIGH)
    return Foretold(times, how, same_cells, tuple(prediction.left_out))
