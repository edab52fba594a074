"""How far predicted times are off, and the choices that follow from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from scipy.stats import kendalltau  # type: ignore[import-untyped]

from timpani.schedules.algorithms.simulation import NotSimulated, SimulatedCall, Simulator
from timpani.schedules.predict.calibrate import Observation
from timpani.schedules.predict.calibration import Calibration
from timpani.schedules.predict.model_error import size_of
from timpani.schedules.predict.predictions import predict

_POINT = ("machine", "placement", "collective", "ranks", "message_bytes")
_WORST = 10
_SAME_SCHEDULE = 1e-9


def predicted_rows(
    simulator: Simulator, calibration: Calibration, truth: Mapping[str, Sequence[Observation]], machine: str
) -> pl.DataFrame:
    """What the calls of `truth`, by placement, take and should take; says why others have no prediction.

    Columns _POINT's, `algorithm`, `time_us`, `predicted_us`, `low_us`, `high_us`, and `anchored_us`: the time that the
    same algorithm took at the most calibrated ranks × the growth of its schedule; null without such a time.
    """
    rows: list[dict[str, object]] = []
    anchors = {
        _curve(each.call): each.time / fitted
        for each, fitted in sorted(
            zip(calibration.observations, calibration.fitted, strict=True), key=lambda known: known[0].call.ranks
        )
    }
    for placement, known in truth.items():
        calls = [each.call for each in known]
        for call, each, predicted in zip(calls, known, predict(simulator, calibration, calls), strict=True):
            where = dict(zip(_POINT, (machine, placement, call.collective, call.ranks, size_of(call)), strict=True))
            if isinstance(predicted, NotSimulated):
                print(f"not predicted: {where} {call.algorithm.plain}: {predicted.why}")
                continue
            rows.append(
                {
                    **where,
                    "algorithm": call.algorithm.plain,
                    "time_us": each.time,
                    "predicted_us": predicted.time,
                    "low_us": predicted.low,
                    "high_us": predicted.high,
                    "anchored_us": anchors[_curve(call)] * predicted.time if _curve(call) in anchors else None,
                }
            )
    return pl.DataFrame(rows, schema_overrides={"anchored_us": pl.Float64()})


def _curve(call: SimulatedCall) -> tuple[object, ...]:
    """What calls at several rank counts have in common; of their places only whether ranks 0 and 1 share a node."""
    together = len({each.node for each in call.places[:2]}) if isinstance(call.places, tuple) else 0
    return call.collective, call.algorithm, call.count, together


def _parts(rows: pl.DataFrame, *columns: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each value of `columns`, and that value in words."""
    for values, part in rows.sort(columns).group_by(columns, maintain_order=True):
        yield ", ".join(map(" ".join, zip(columns, map(str, values), strict=True))), part


def _worst(rows: pl.DataFrame) -> str:
    """The cells that are farthest off."""
    off = (pl.col("predicted_us") / pl.col("time_us")).log()
    return "\n".join(
        f"farthest off: {row['machine']} by {row['placement']}, {row['collective']} {row['algorithm']} on "
        f"{row['ranks']} ranks of {row['message_bytes']} B: {row['time_us']:.1f} µs, predicted "
        f"{row['predicted_us']:.1f} ({row['low_us']:.1f} to {row['high_us']:.1f})"
        for row in rows.sort(off.abs(), descending=True).head(_WORST).iter_rows(named=True)
    )


def summary(rows: pl.DataFrame) -> str:
    """Errors as |ln(predicted / time)|, intervals, and where there are several algorithms the choice among them."""
    off = np.abs(np.log((rows["predicted_us"] / rows["time_us"]).to_numpy()))
    covered = ((rows["low_us"] <= rows["time_us"]) & (rows["time_us"] <= rows["high_us"])).to_numpy()
    width = np.sqrt((rows["high_us"] / rows["low_us"]).to_numpy())
    errors = (
        f"{rows.height} cells, median error {np.median(off):.1%}, nine of ten within {np.quantile(off, 0.9):.0%}, "
        f"coverage {covered.mean():.1%} (median interval ×÷ {np.median(width):.2f})"
    )
    anchored = rows.drop_nulls("anchored_us").with_columns(predicted_us="anchored_us")
    if anchored.height:
        off = np.abs(np.log((anchored["predicted_us"] / anchored["time_us"]).to_numpy()))
        errors += f", anchored {anchored.height} cells, {np.median(off):.1%}, {np.quantile(off, 0.9):.0%}"
    points = [part for _, part in rows.group_by(_POINT, maintain_order=True) if part.height > 1]
    if not points:
        return errors
    if regret_of := [_regret(part) for _, part in anchored.group_by(_POINT) if part.height > 1]:
        errors += f", regret {np.mean(regret_of):.1%}"
    tau = np.nanmean([kendalltau(part["time_us"], part["predicted_us"]).statistic for part in points])
    regrets = np.array([_regret(part) for part in points])
    return (
        f"{errors}, Kendall tau {tau:.2f}, regret mean {regrets.mean():.1%}, median {np.median(regrets):.1%}, worst "
        f"{regrets.max():.0%} of {len(points)} points"
    )


def print_summaries(rows: pl.DataFrame, *groupings: str, described: Callable[[pl.DataFrame], str] = summary) -> None:
    """What `described` says of each part of the rows, and of all; then the cells that are farthest off.

    groupings  columns with spaces between them: a part has one value of each
    """
    for columns in groupings:
        for name, part in _parts(rows, *columns.split()):
            print(f"{name}: {described(part)}")
    print(f"all: {described(rows)}")
    print(_worst(rows))


def _regret(point: pl.DataFrame) -> float:
    """How much longer the prediction's choice takes than the fastest, averaged over tied predictions."""
    chosen = point.filter(pl.col("predicted_us") <= pl.col("predicted_us").min() * (1 + _SAME_SCHEDULE))
    return float(chosen.select(pl.col("time_us").mean()).item() / point.select(pl.col("time_us").min()).item()) - 1
