"""What calls should take on a machine of known costs: time with its interval, what it is made of, who wins where."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.errors import UserError
from timpani.native.side_by_side import on_every_core
from timpani.prediction.calibration import Calibration
from timpani.prediction.model_error import size_of
from timpani.prediction.request import Plan, PredictionRequest, Request
from timpani.prediction.stand_ins import Closeness
from timpani.prediction.terms import KINDS, MEASURED_BY, PAID_FOR, RELATIONS, CostTerm, terms, vector
from timpani.schedules.simulation import (
    Costs,
    NotSimulated,
    Relation,
    SimulatedCall,
    Simulator,
    TimeBreakdown,
    leaves_a_node,
)
from timpani.study.sizes import show_size, show_sizes

_Z = 1.96
_STEP_SECONDS = 0.2

_NO_NETWORK = f"no message between nodes was measured, as `timpani run … {MEASURED_BY[Relation.group]}` would"

WAITING = "waiting"
"""No part of its own: how much of a time, made of the others, messages waited for busy ports."""

POINT = ["collective", "ranks", "message_bytes"]


@dataclass(frozen=True)
class PredictedTime:
    """A time in microseconds with its 95 % interval, and what it is made of.

    low, high    of the costs over resampled launches, and of the model's error, which grows with the distance from what
                 was measured; None where only messages between two ranks were, or another size alone
    shares       of the time, by KINDS and WAITING
    ratio_width  two algorithms' times differ where the logarithm of their ratio is larger
    by           how it was simulated, as of Composition
    """

    time: float
    low: float | None
    high: float | None
    shares: dict[str, float]
    ratio_width: float | None
    by: str

    def scaled(self, factor: float) -> "PredictedTime":
        low, high = (bound and bound * factor for bound in (self.low, self.high))
        return replace(self, time=self.time * factor, low=low, high=high)

    def widened(self, half: float) -> "PredictedTime":
        """With an interval that is wider by so much to each side, in logarithms."""
        low, high = self.low and self.low * exp(-half), self.high and self.high * exp(half)
        width = None if self.ratio_width is None else self.ratio_width + half
        return replace(self, low=low, high=high, ratio_width=width)


def predict(
    simulator: Simulator, calibration: Calibration, calls: Sequence[SimulatedCall]
) -> list[PredictedTime | NotSimulated]:
    """What each call should take."""
    known = [call for call in calls if calibration.nodes_left or not leaves_a_node(call.places)]
    answers = dict(zip(known, simulator.compositions(known, calibration.costs), strict=True))
    return [
        _predicted(calibration, call, answers[call]) if call in answers else NotSimulated(_NO_NETWORK) for call in calls
    ]


def predict_plan(
    simulator: Simulator, calibration: Calibration, plan: Plan, passed: Callable[[float], None] = lambda share: None
) -> list[PredictedTime | NotSimulated]:
    """What each call that a plan asks for should take, simulated side by side on all cores.

    `passed` is told the share of the whole, 0 to 1, that each step was.
    """
    whole = sum(plan.seconds.values())
    found: dict[SimulatedCall, PredictedTime | NotSimulated] = {}
    with on_every_core() as pool:
        steps = list(_steps(plan.seconds))
        answers = pool.map(lambda calls: predict(simulator, calibration, calls), steps)
        for calls, told in zip(steps, answers, strict=True):
            found.update(zip(calls, told, strict=True))
            passed(sum(plan.seconds[call] for call in calls) / whole)
    return [_as_asked(each, [found[call] for call in each.calls]) for each in plan.asked]


def _steps(seconds: Mapping[SimulatedCall, float]) -> Iterator[list[SimulatedCall]]:
    """Parts that take long enough for starting a program to be no matter."""
    step: list[SimulatedCall] = []
    for call in seconds:
        step.append(call)
        if sum(seconds[each] for each in step) > _STEP_SECONDS:
            yield step
            step = []
    if step:
        yield step


def _as_asked(asked: PredictionRequest, found: Sequence[PredictedTime | NotSimulated]) -> PredictedTime | NotSimulated:
    """By any of the schedules that the algorithm may follow, and as far off as its own code."""
    told = [each for each in found if isinstance(each, PredictedTime)]
    if len(told) < len(found):
        return next(each for each in found if isinstance(each, NotSimulated))
    one = told[0] if len(told) == 1 else _any_of(told)
    off = dict(asked.named.off).get(size_of(asked.calls[0]))
    return one if off is None else one.widened(off)


def _any_of(told: Sequence[PredictedTime]) -> PredictedTime:
    """In the middle of their times, with an interval that holds those of all; made of what the longest is."""
    longest = max(told, key=lambda each: each.time)
    least = min(each.time for each in told)
    lows, highs, widths = zip(*((each.low, each.high, each.ratio_width) for each in told), strict=True)
    return PredictedTime(
        sqrt(least * longest.time),
        None if None in lows else min(lows),
        None if None in highs else max(highs),
        longest.shares,
        None if None in widths else max(widths) + log(longest.time / least) / 2,
        longest.by,
    )


@dataclass(frozen=True)
class Predictions:
    """times: of `prediction_frame`; left_out: what has none, and why; closeness: of the predicted calls' ranks."""

    calibration: Calibration
    request: Request
    times: pl.DataFrame
    left_out: list[str]
    closeness: Closeness


def predict_request(
    simulator: Simulator,
    calibration: Calibration,
    request: Request,
    plan: Plan,
    passed: Callable[[float], None] = lambda share: None,
) -> Predictions:
    """All that was asked for and can be predicted, by the request's plan; UserError where nothing can. `passed` as of
    predict_plan."""
    answers = predict_plan(simulator, calibration, plan, passed)
    told = [(asked, each) for asked, each in zip(plan.asked, answers, strict=True) if isinstance(each, PredictedTime)]
    refused: dict[str, list[PredictionRequest]] = {}
    for asked, each in zip(plan.asked, answers, strict=True):
        if isinstance(each, NotSimulated):
            refused.setdefault(each.why, []).append(asked)
    whys = [f"{_in_words(calls)}: {why}" for why, calls in refused.items()]
    left_out = [*plan.left_out, *whys]
    if not told:
        first = (whys or left_out)[0]
        raise UserError(f"nothing can be predicted: {first}", "ask for others, or measure what is missing")
    places = {(call.places, call.ranks) for asked, _ in told for call in asked.calls}
    return Predictions(
        calibration,
        request,
        prediction_frame(*zip(*told, strict=True)),
        left_out,
        Closeness.of(places),
    )


def _in_words(asked: Sequence[PredictionRequest]) -> str:
    """The algorithms, rank counts and sizes of calls that share a reason."""
    names = ", ".join(dict.fromkeys(str(each.named) for each in asked))
    ranks = ", ".join(map(str, sorted({each.calls[0].ranks for each in asked})))
    return f"{names} on {ranks} ranks, {show_sizes(sorted({size_of(each.calls[0]) for each in asked}))}"


def prediction_frame(asked: Sequence[PredictionRequest], predicted: Sequence[PredictedTime]) -> pl.DataFrame:
    """A row for each: POINT's columns, `label`, `provider`, `algorithm`, `parameters`, `sends_as` (the schedules of
    ours that a library's algorithm may follow, else null), `predicted_us`, `low_us`, `high_us`, a `…_share` of each of
    KINDS and WAITING, `simulated_by` (Predicted.by) and `ratio_width`."""
    shares = [*KINDS, WAITING]
    columns = {
        "collective": [each.named.collective for each in asked],
        "ranks": [each.calls[0].ranks for each in asked],
        "message_bytes": [size_of(each.calls[0]) for each in asked],
        "label": [str(each.named.algorithm) for each in asked],
        "provider": [each.named.algorithm.provider for each in asked],
        "algorithm": [each.named.algorithm.name for each in asked],
        "parameters": [each.named.algorithm.parameter_text for each in asked],
        "sends_as": [each.named.sends_as for each in asked],
        "predicted_us": [each.time for each in predicted],
        "low_us": [each.low for each in predicted],
        "high_us": [each.high for each in predicted],
        **{f"{share}_share": [each.shares[share] for each in predicted] for share in shares},
        "simulated_by": [each.by for each in predicted],
        "ratio_width": [each.ratio_width for each in predicted],
    }
    texts, counts = (
        ("collective", "label", "provider", "algorithm", "parameters", "sends_as", "simulated_by"),
        ("ranks", "message_bytes"),
    )
    types = {name: pl.String() if name in texts else pl.Int64() if name in counts else pl.Float64() for name in columns}
    return pl.DataFrame(columns, schema=types)


def winners(predictions: pl.DataFrame) -> pl.DataFrame:
    """Of each point the row of the shortest time, with `tied`: the labels of all that may be as fast, itself first, and
    `against`: of how many. As uncertain as a ratio of two is the more uncertain of them."""
    ranked = predictions.sort("predicted_us", "label").with_columns(
        best_us=pl.col("predicted_us").first().over(POINT),
        best_width=pl.col("ratio_width").first().over(POINT),
        against=pl.len().over(POINT),
    )
    width = pl.max_horizontal("ratio_width", "best_width").fill_null(0.0)
    may_be_best = (pl.col("predicted_us") / pl.col("best_us")).log() <= width
    tied = ranked.filter(may_be_best).group_by(POINT, maintain_order=True).agg(pl.col("label").alias("tied"))
    best = ranked.group_by(POINT, maintain_order=True).first()
    return best.join(tied, on=POINT).sort(POINT).drop("best_us", "best_width")


def _predicted(
    calibration: Calibration, call: SimulatedCall, answer: TimeBreakdown | NotSimulated
) -> PredictedTime | NotSimulated:
    if isinstance(answer, NotSimulated):
        return answer
    amounts = np.array(answer.amounts)
    if missing := _unmeasured(calibration, amounts):
        return NotSimulated(missing)
    paid = amounts * vector(calibration.costs)
    kinds = np.array([term.kind for term in terms(calibration.costs)])
    parts = {**{kind: float(paid[kinds == kind].sum()) for kind in KINDS}, WAITING: answer.waited}
    shares = {name: part / answer.time if answer.time > 0 else 0.0 for name, part in parts.items()}
    if calibration.error is None or not calibration.error.tells(call) or answer.time <= 0:
        return PredictedTime(answer.time, None, None, shares, None, answer.by)
    sampled = np.log(np.maximum(calibration.resampled @ amounts, 1e-12) / answer.time)
    half = float(np.hypot(_Z * sampled.std(), calibration.error.of_time(call)))
    low, high = (answer.time * float(np.exp(each)) for each in (-half, half))
    return PredictedTime(answer.time, low, high, shares, calibration.error.of_ratio(call), answer.by)


def _unmeasured(calibration: Calibration, amounts: NDArray[np.float64]) -> str:
    """What the call pays and nobody measured, in words; nothing where there is no such thing."""
    told = terms(calibration.costs)
    known = {term for term, paid in zip(told, calibration.paid, strict=True) if paid}
    for number, term in enumerate(told):
        if amounts[number] <= 0 or calibration.paid[number]:
            continue
        if term.relation is None:
            reduces = "; `timpani run reduce_local`, or a reduction, would" if PAID_FOR[number] == "reducing" else ""
            return f"nothing that was measured tells what {PAID_FOR[number]} takes{reduces}"
        between = f"between ranks of {RELATIONS[term.relation]}"
        if not any(each.relation == term.relation and each.first_bytes is not None for each in known):
            return f"no message {between} was measured, as `timpani run … {MEASURED_BY[term.relation]}` would"
        return f"no measured call sent messages {_sizes_of_line(calibration.costs, term)} {between}: measure such sizes"
    return ""


def _sizes_of_line(costs: Costs, term: CostTerm) -> str:
    """Of the messages that it is paid for, in words."""
    assert term.relation is not None
    first = term.first_bytes or 0
    above = next((line.first_bytes for line in costs.messages[term.relation] if line.first_bytes > first), None)
    if above is None:
        return f"of {show_size(first)} and more"
    return f"of {show_size(first)} to {show_size(above)}" if first else f"under {show_size(above)}"
