"""Predicted times of calls on a machine with known costs, with intervals and cost shares, and the fastest algorithm."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.errors import UserError
from timpani.native.children import on_every_core
from timpani.schedules.algorithms.simulation import (
    Costs,
    EqualNodes,
    NotSimulated,
    RankPlace,
    Relation,
    SimulatedCall,
    Simulator,
    TimeBreakdown,
    relation_with_costs,
    relations_among,
    sockets_are_known,
    spans_nodes,
)
from timpani.schedules.predict.calibration import Calibration
from timpani.schedules.predict.model_error import size_of
from timpani.schedules.predict.request import Plan, PredictionRequest, Request
from timpani.schedules.predict.terms import KINDS, MEASURED_BY, PAID_FOR, RELATIONS, CostTerm, terms, vector
from timpani.study.sizes import show_size, show_sizes

_Z_95 = 1.96
_BATCH_SECONDS = 0.2

_NO_NETWORK = f"no message between nodes was measured; `timpani run … {MEASURED_BY[Relation.group]}` measures them"

WAITING = "waiting"
"""Share of a time in which messages waited for busy ports. It overlaps with the other shares."""

POINT = ["collective", "ranks", "message_bytes"]


@dataclass(frozen=True)
class Closeness:
    """relations: how close ranks of the predicted calls are, empty if unknown; sockets_known: whether it is known which
    ranks share a socket."""

    relations: frozenset[Relation]
    sockets_known: bool

    @classmethod
    def from_places(cls, placed: Iterable[tuple[EqualNodes | tuple[RankPlace, ...], int]]) -> Self:
        """From places, each with its rank count."""
        known = [(places, ranks) for places, ranks in placed if places]
        return cls(
            frozenset().union(
                *(of.relations(ranks) if isinstance(of, EqualNodes) else relations_among(of) for of, ranks in known)
            ),
            any(sockets_are_known(of) for of, _ in known),
        )


@dataclass(frozen=True)
class PredictedTime:
    """A time in microseconds with its 95 % interval, and its cost shares.

    low, high    combine the variation over resampled launches and the model error, which grows with the distance from
                 the measurements, and hold the times by alternative models; None where only messages between two
                 ranks, or only another size, were measured
    shares       fractions of the time, by KINDS and WAITING
    ratio_width  two algorithms' times differ where the logarithm of their ratio is larger
    by           the simulation method, as in TimeBreakdown
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


def predict(
    simulator: Simulator, calibration: Calibration, calls: Sequence[SimulatedCall]
) -> list[PredictedTime | NotSimulated]:
    """Predict the time of each call."""
    known = [call for call in calls if calibration.predicts_across_nodes or not spans_nodes(call.places)]
    answers = dict(zip(known, simulator.compositions(known, calibration.costs), strict=True))
    by_others = [simulator.times(known, costs) for costs in calibration.alternatives]
    others = dict(zip(known, zip(*by_others, strict=True), strict=True)) if by_others else dict.fromkeys(known, ())
    return [
        _predict_call(calibration, call, answers[call], others[call]) if call in answers else NotSimulated(_NO_NETWORK)
        for call in calls
    ]


def predict_plan(
    simulator: Simulator, calibration: Calibration, plan: Plan, passed: Callable[[float], None] = lambda share: None
) -> list[PredictedTime | NotSimulated]:
    """Predict the calls of a plan in parallel on all cores.

    `passed` receives the share of the work, 0 to 1, that each step completed.
    """
    whole = sum(plan.seconds.values())
    found: dict[SimulatedCall, PredictedTime | NotSimulated] = {}
    with on_every_core() as pool:
        steps = list(_batches(plan.seconds))
        answers = pool.map(lambda calls: predict(simulator, calibration, calls), steps)
        for calls, results in zip(steps, answers, strict=True):
            found.update(zip(calls, results, strict=True))
            passed(sum(plan.seconds[call] for call in calls) / whole)
    return [_combine_schedules(each, [found[call] for call in each.calls]) for each in plan.requests]


def _batches(seconds: Mapping[SimulatedCall, float]) -> Iterator[list[SimulatedCall]]:
    """Batches that take long enough to make the program's start negligible."""
    step: list[SimulatedCall] = []
    for call in seconds:
        step.append(call)
        if sum(seconds[each] for each in step) > _BATCH_SECONDS:
            yield step
            step = []
    if step:
        yield step


def _combine_schedules(
    request: PredictionRequest, found: Sequence[PredictedTime | NotSimulated]
) -> PredictedTime | NotSimulated:
    """Combine the predictions of the schedules that an algorithm may follow, in proportion to its measured time."""
    results = [each for each in found if isinstance(each, PredictedTime)]
    if len(results) < len(found):
        return next(each for each in found if isinstance(each, NotSimulated))
    one = results[0] if len(results) == 1 else _combine_times(results)
    off = dict(request.selected.off).get(size_of(request.calls[0]))
    return one if off is None else one.scaled(exp(off))


def _combine_times(results: Sequence[PredictedTime]) -> PredictedTime:
    """The geometric mean of the shortest and the longest time, with an interval around all of them, and the shares of
    the longest."""
    longest = max(results, key=lambda each: each.time)
    least = min(each.time for each in results)
    lows, highs, widths = zip(*((each.low, each.high, each.ratio_width) for each in results), strict=True)
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
    """times: of `prediction_frame`; left_out: calls without a prediction, with the reason; closeness: of the ranks."""

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
    """Predict all calls of a plan that can be predicted; UserError if that is no call. `passed` as in predict_plan."""
    answers = predict_plan(simulator, calibration, plan, passed)
    results = [
        (single, each) for single, each in zip(plan.requests, answers, strict=True) if isinstance(each, PredictedTime)
    ]
    refused: dict[str, list[PredictionRequest]] = {}
    for single, each in zip(plan.requests, answers, strict=True):
        if isinstance(each, NotSimulated):
            refused.setdefault(each.why, []).append(single)
    whys = [f"{_describe_requests(calls)}: {why}" for why, calls in refused.items()]
    left_out = [*plan.left_out, *whys]
    if not results:
        first = (whys or left_out)[0]
        raise UserError(f"no call can be predicted: {first}", "choose other algorithms, or measure the missing costs")
    places = {(call.places, call.ranks) for single, _ in results for call in single.calls}
    return Predictions(
        calibration,
        request,
        prediction_frame(*zip(*results, strict=True)),
        left_out,
        Closeness.from_places(places),
    )


def _describe_requests(requests: Sequence[PredictionRequest]) -> str:
    """The algorithms, rank counts and sizes of these requests, for a message."""
    names = ", ".join(dict.fromkeys(str(each.selected) for each in requests))
    ranks = ", ".join(map(str, sorted({each.calls[0].ranks for each in requests})))
    return f"{names} on {ranks} ranks, {show_sizes(sorted({size_of(each.calls[0]) for each in requests}))}"


def prediction_frame(requests: Sequence[PredictionRequest], predicted: Sequence[PredictedTime]) -> pl.DataFrame:
    """One row for each request, with POINT's columns and:

    label, provider, algorithm, parameters  the algorithm
    sends_as                                Timpani's schedules that a library's algorithm may follow, else null
    predicted_us, low_us, high_us           time and interval, microseconds
    …_share                                 of each of KINDS and WAITING
    simulated_by                            PredictedTime.by
    ratio_width                             PredictedTime.ratio_width
    """
    shares = [*KINDS, WAITING]
    columns = {
        "collective": [each.selected.collective for each in requests],
        "ranks": [each.calls[0].ranks for each in requests],
        "message_bytes": [size_of(each.calls[0]) for each in requests],
        "label": [str(each.selected.algorithm) for each in requests],
        "provider": [each.selected.algorithm.provider for each in requests],
        "algorithm": [each.selected.algorithm.name for each in requests],
        "parameters": [each.selected.algorithm.parameter_text for each in requests],
        "sends_as": [each.selected.sends_as for each in requests],
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
    """The row of the shortest time at each point.

    tied     labels of all algorithms that may be as fast, the fastest first
    against  number of algorithms at the point

    A ratio of two times has the larger `ratio_width` of the two.
    """
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


def _predict_call(
    calibration: Calibration,
    call: SimulatedCall,
    answer: TimeBreakdown | NotSimulated,
    others: Sequence[float | NotSimulated],
) -> PredictedTime | NotSimulated:
    """others: the call's time by each alternative model."""
    if isinstance(answer, NotSimulated):
        return answer
    amounts = np.array(answer.amounts)
    if missing := _missing_cost(calibration, amounts):
        return NotSimulated(missing)
    paid = amounts * vector(calibration.costs)
    kinds = np.array([term.kind for term in terms(calibration.costs)])
    parts = {**{kind: float(paid[kinds == kind].sum()) for kind in KINDS}, WAITING: answer.waited}
    shares = {name: part / answer.time if answer.time > 0 else 0.0 for name, part in parts.items()}
    anchor = calibration.anchor(call)
    if calibration.error is None or not calibration.error.covers(call) or answer.time <= 0:
        return PredictedTime(answer.time * anchor, None, None, shares, None, answer.by)
    sampled = np.log(np.maximum(calibration.resampled @ amounts, 1e-12) / answer.time)
    half = float(np.hypot(_Z_95 * sampled.std(), calibration.error.time_half_width(call)))
    low, high = (answer.time * float(np.exp(each)) for each in (-half, half))
    off = [0.0, *(log(each / answer.time) for each in others if not isinstance(each, NotSimulated) and each > 0)]
    width = calibration.error.ratio_half_width(call) + max(map(abs, off))
    found = PredictedTime(answer.time, low * exp(min(off)), high * exp(max(off)), shares, width, answer.by)
    return found.scaled(anchor)


def _missing_cost(calibration: Calibration, amounts: NDArray[np.float64]) -> str:
    """Why a cost that the call pays is unknown; empty if all are known."""
    results = terms(calibration.costs)
    known = {term for term, paid in zip(results, calibration.paid, strict=True) if paid}
    for number, term in enumerate(results):
        if amounts[number] <= 0 or calibration.paid[number]:
            continue
        if term.relation is None:
            reduces = (
                "; `timpani run reduce_local`, or a reduction, measures it" if PAID_FOR[number] == "reducing" else ""
            )
            return f"the cost of {PAID_FOR[number]} was not measured{reduces}"
        between = f"between ranks of {RELATIONS[term.relation]}"
        if not any(each.relation == term.relation and each.first_bytes is not None for each in known):
            return f"no message {between} was measured; `timpani run … {MEASURED_BY[term.relation]}` measures them"
        return f"no measured call sent messages {_sizes_of_line(calibration.costs, term)} {between}: measure such sizes"
    return ""


def _sizes_of_line(costs: Costs, term: CostTerm) -> str:
    """The message sizes of a cost line, for a message."""
    assert term.relation is not None
    first = term.first_bytes or 0
    above = next((line.first_bytes for line in costs.messages[term.relation] if line.first_bytes > first), None)
    if above is None:
        return f"of {show_size(first)} and more"
    return f"of {show_size(first)} to {show_size(above)}" if first else f"under {show_size(above)}"


def stand_ins(calibration: Calibration, predicted: Closeness) -> Iterator[str]:
    """A sentence for each substituted cost, with advice on measuring the real one."""
    if calibration.relations:
        yield from _relation_notes(calibration, predicted)
        yield from _memory_notes(calibration, predicted)
    elif predicted.relations:
        yield (
            "The distance between the measured ranks is unknown: their message costs are also used for messages "
            f"between ranks of {', of '.join(RELATIONS[each] for each in sorted(predicted.relations))}"
        )


def _relation_notes(calibration: Calibration, predicted: Closeness) -> Iterator[str]:
    messages = calibration.costs.messages
    measured_relations = [relation for relation in Relation if relation_with_costs(messages, relation) == relation]
    unknown = (
        Relation.node in predicted.relations and not predicted.sockets_known and measured_relations[0] < Relation.node
    )
    if unknown:
        yield (
            f"It is unknown which ranks of a node share a cache or a socket: costs of messages between "
            f"ranks of {RELATIONS[relation_with_costs(messages, Relation.node)]} are used for all. Add `caches`, and "
            "`sockets` if a node has several, to the machine file"
        )
    for relation in sorted(predicted.relations - {*measured_relations, *({Relation.node} if unknown else ())}):
        others = RELATIONS[relation_with_costs(messages, relation)]
        advice = f". `timpani run … {MEASURED_BY[relation]}` may measure them" if calibration.error else ""
        yield (
            f"Messages between ranks of {RELATIONS[relation]} were not measured: costs of messages between ranks of "
            f"{others} are used for them{advice}"
        )
    within = [RELATIONS[relation] for relation in measured_relations if relation <= Relation.node]
    if not predicted.relations and len(within) > 1:
        yield (
            f"It is unknown which ranks share a cache or a socket: costs of messages between ranks of {within[-1]} are "
            "used for all. Name a machine file with these data: --on FILE"
        )


def _memory_notes(calibration: Calibration, predicted: Closeness) -> Iterator[str]:
    measured = calibration.sockets_known
    if not predicted.relations or not calibration.costs.shared[0] or measured == predicted.sockets_known:
        return
    if measured:
        yield (
            "The measured cost of memory is that of one socket, but the sockets of the predicted ranks are unknown: "
            "all ranks of a node share one such memory. Add `sockets`, or `caches` if a node has one "
            "socket, to the machine file"
        )
    else:
        yield (
            "The measured cost of memory is that of a whole node, as the sockets of the measured ranks are unknown: "
            "each socket is predicted to have as fast a memory. Measure with bound ranks"
        )
