"""Costs of a machine from campaigns measured on it, and the error of predictions with them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import log, sqrt
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.native.children import on_every_core, usable_cores
from timpani.schedules.algorithms.simulation import (
    NO_BURST,
    NO_CLOSER_LINES,
    CostLine,
    Costs,
    RankPlace,
    Relation,
    SimulatedCall,
    Simulator,
    relation_with_costs,
    relations_among,
    sockets_are_known,
    spans_nodes,
)
from timpani.schedules.predict.calibrate import CostEstimate, Observation, amounts_of, estimate, resample, with_lines
from timpani.schedules.predict.model_error import Growth, ModelError, different_schedules, model_error, size_of
from timpani.schedules.predict.observed import check_comparable, costs_of_pairs, library_of, observations, of_one_mode
from timpani.schedules.predict.terms import SHARED_BY, Vector, terms, vector
from timpani.study.schema import is_timpani_schedule
from timpani.study.words import counted, show_seconds

MIN_SCHEDULES = 3
"""Minimum of different schedules, each predicted from the others: fewer give costs, but not their error."""

_SIZE_DIVISIONS = ((0,), (0, 4096), (0, 65536), (0, 64, 4096), (0, 512, 32768))
"""Candidate sizes in bytes at which the costs of a message may change."""

_EAGER_LIMITS = (0, 1025, 4097, 16385, 65537)
"""Candidate sizes in bytes from which messages are no longer sent eagerly."""

_PASSES = 100
"""About as many times are all measured calls simulated: for each of 17 models, until its costs no longer change."""

_ANNOUNCED_SECONDS = 30.0

Announce = Callable[[str], None]
"""Receives, before it starts, what will take long and how long."""


def announce_calibration(announce: Announce, seconds: float, what: str) -> None:
    """Announce a calibration if it is expected to take long."""
    if seconds > _ANNOUNCED_SECONDS:
        announce(f"calibrating by {what}: about {show_seconds(seconds)}")


_ERROR_DIGITS = 6
"""Models whose mean errors, natural logarithms, agree to this number of digits count as equal."""

HOW_TO_MEASURE_COSTS = (
    "measure them: timpani run latency reduce_local -o DIR, and timpani run bcast allreduce --algorithms timpani/all "
    "-o DIR"
)
"""Advice when no campaign gives costs."""


@dataclass(frozen=True)
class Calibration:
    """Costs, microseconds and microseconds per byte, and their errors.

    paid          whether a measured call pays each parameter, or would pay it with unlimited links, shape (terms,)
    resampled     costs from resampled launches, shape (resamples, terms)
    error         None where only messages between two ranks were measured; `left_out` is then empty
    left_out      predicted / measured of each observation by a calibration without its algorithm, shape (observations,)
    simulated     whether the machine is simulated
    relations     how close the ranks were whose messages give the costs; empty if unknown
    alternatives  the costs by other eager limits and ways of sharing links that fit as well: their errors exceed the
                  chosen ones' by at most one standard error of the mean difference
    schedules     number of different schedules among the measured calls
    library       name and version of the measured MPI library
    costs_from    the folders of the campaigns, absolute
    campaigns     the identity of each
    oversubscribed  the rank counts with more ranks than cores
    unknown       measured algorithms of other versions; they can't be simulated and give no costs
    fitted        simulated time of each observation
    """

    costs: Costs
    observations: list[Observation]
    paid: NDArray[np.bool_]
    resampled: NDArray[np.float64]
    error: ModelError | None
    left_out: Vector
    simulated: bool
    relations: frozenset[Relation] = frozenset()
    alternatives: tuple[Costs, ...] = ()
    schedules: int = 0
    library: str = ""
    costs_from: tuple[str, ...] = ()
    campaigns: tuple[str, ...] = ()
    oversubscribed: tuple[int, ...] = ()
    unknown: tuple[str, ...] = ()
    fitted: tuple[float, ...] = ()

    @property
    def models(self) -> tuple[Costs, ...]:
        """The costs by which calls are simulated, the chosen ones first."""
        return (self.costs, *self.alternatives)

    @property
    def predicts_across_nodes(self) -> bool:
        """Whether the costs hold for messages between nodes, as far as that is known."""
        return not self.relations or max(self.relations) >= Relation.group

    @property
    def sockets_known(self) -> bool:
        return any(sockets_are_known(each.call.places) for each in self.observations)

    def algorithms(self) -> list[str]:
        """The measured algorithms, as collective/name."""
        return sorted(_algorithm_names(self.observations))

    def oversubscription_note(self) -> str | None:
        """Warning about costs from ranks that shared cores; None if no ranks did."""
        if not self.oversubscribed:
            return None
        counts = ", ".join(map(str, self.oversubscribed))
        return f"the runs with {counts} ranks had more ranks than cores: their costs may not hold with enough cores"

    def __str__(self) -> str:
        if self.error is None:
            return "costs of messages between two ranks: an isolated call takes longer"
        ranks, sizes = self.error.ranks, self.error.sizes
        algorithms = len(self.algorithms())
        differing = f", with {self.schedules} different schedules," if self.schedules < algorithms else ""
        by = f" by {self.library}" if self.library else ""
        return (
            f"costs from {len(self.observations)} cells of {algorithms} algorithms{differing} at {_range(ranks)} "
            f"ranks, {_range(sizes)} B{by}{', simulated' if self.simulated else ''}"
        )

    @cached_property
    def _anchors(self) -> dict[object, list[tuple[SimulatedCall, float]]]:
        found: dict[object, list[tuple[SimulatedCall, float]]] = {}
        for each, fitted in zip(self.observations, self.fitted, strict=False):
            if fitted > 0:
                found.setdefault(_all_but_ranks(each.call), []).append((each.call, each.time / fitted))
        return found

    def anchor(self, call: SimulatedCall) -> float:
        """Measured over simulated time of the same call on the nearest measured rank count; 1 if it was not measured.

        A prediction is multiplied by it: it is then the measured time, times the growth of the simulated schedule.
        """

        def distance(measured: tuple[SimulatedCall, float]) -> tuple[bool, float]:
            other = measured[0]
            return spans_nodes(other.places) != spans_nodes(call.places), abs(log(other.ranks / call.ranks))

        return min(self._anchors.get(_all_but_ranks(call), [(call, 1.0)]), key=distance)[1]

    @property
    def launches(self) -> int:
        """Fewest launches of any measured call."""
        return min((len(each.launches) for each in self.observations), default=0)


def _all_but_ranks(call: SimulatedCall) -> object:
    return call.collective, call.algorithm, size_of(call), call.root


def _range(measured: Growth) -> str:
    same = measured.least == measured.most
    return str(measured.least) if same else f"{measured.least} to {measured.most}"


def require_calibration(
    simulator: Simulator, campaigns: Sequence[Campaign], announce: Announce = lambda text: None
) -> Calibration:
    """The costs that campaigns of one machine give together; UserError if they give none."""
    found = calibrate(simulator, campaigns, announce)
    if found is None:
        observed = _simulable_calls(simulator, _observations(campaigns))
        names = {(each.call.collective, each.call.algorithm) for each in observed}
        too_few = (
            f"too few of Timpani's algorithms: {counted(len(names), 'algorithm')} with "
            f"{counted(_count_schedules(simulator, observed), 'different schedule')} on these ranks; at least "
            f"{MIN_SCHEDULES} different schedules are needed"
        )
        what = too_few if names else "it measured neither `latency` nor Timpani's algorithms"
        raise UserError(f"{', '.join(str(each.folder) for each in campaigns)}: {what}", HOW_TO_MEASURE_COSTS)
    return found


def calibrate(
    simulator: Simulator, campaigns: Sequence[Campaign], announce: Announce = lambda text: None
) -> Calibration | None:
    """The costs that campaigns of one machine give together.

    None if they measured neither messages between two ranks nor MIN_SCHEDULES different schedules of Timpani's
    algorithms.
    UserError if the campaigns can't be combined.
    """
    campaigns = of_one_mode(campaigns, announce)
    check_comparable(campaigns)
    messages, relations = costs_of_pairs(campaigns)
    simulated = any(bool(campaign.results["simulated"].any()) for campaign in campaigns)
    measured = _observations(campaigns)
    begin = monotonic()
    observed = _simulable_calls(simulator, measured)
    announce_calibration(announce, (monotonic() - begin) * _PASSES / usable_cores(), f"{len(observed)} measured calls")
    if _count_schedules(simulator, observed) >= MIN_SCHEDULES:
        burst = max(campaign.header.machine.bursts for campaign in campaigns)
        found = calibrate_from_calls(simulator, observed, messages, simulated, burst=burst)
    elif messages is None:
        return None
    else:
        none = vector(messages)
        paid = np.full(len(none), True)
        found = Calibration(messages, [], paid, none[None, :], None, np.empty(0), simulated, relations)
    return replace(
        found,
        library=library_of(campaigns[0]),
        costs_from=tuple(str(campaign.folder.resolve()) for campaign in campaigns),
        campaigns=tuple(campaign.header.id for campaign in campaigns),
        oversubscribed=_oversubscribed(campaigns) if found.error else (),
        unknown=tuple(sorted(_algorithm_names(measured) - _algorithm_names(observed))),
    )


def _observations(campaigns: Sequence[Campaign]) -> list[Observation]:
    return [each for campaign in campaigns for each in observations(campaign)]


def _algorithm_names(observed: list[Observation]) -> set[str]:
    return {f"{each.call.collective}/{each.call.algorithm.plain}" for each in observed}


def _count_schedules(simulator: Simulator, observed: list[Observation]) -> int:
    """Number of different schedules among the calls."""
    if not observed:
        return 0
    amounts = amounts_of(simulator, observed, next(_initial_costs(observed, None)))
    return len(np.unique(different_schedules([each.call for each in observed], amounts)))


def _oversubscribed(campaigns: Sequence[Campaign]) -> tuple[int, ...]:
    shared = (campaign.results.filter(is_timpani_schedule(), "oversubscribed")["ranks"] for campaign in campaigns)
    return tuple(sorted({ranks for each in shared for ranks in each}))


def _simulable_calls(simulator: Simulator, observed: list[Observation]) -> list[Observation]:
    """Observations whose algorithm this version can simulate; others were renamed or removed since the campaign."""
    answers = simulator.times([each.call for each in observed], Costs())
    return [each for each, answer in zip(observed, answers, strict=True) if isinstance(answer, float | int)]


@dataclass(frozen=True)
class _Model:
    """A calibrated model.

    left_out  ln(predicted / measured) of each observation by a calibration without its algorithm
    errors    absolute values of `left_out`, or of the errors with all algorithms if their mean is larger: `left_out`
              uses the critical paths of the full fit, which may differ from those of the partial fits
    """

    error: ModelError
    left_out: Vector
    found: CostEstimate
    errors: Vector

    @property
    def mean_error(self) -> float:
        """Rounded: measured calls may not distinguish models, and processors round differently."""
        return round(float(self.errors.mean()), _ERROR_DIGITS)

    def as_good_as(self, other: "_Model") -> bool:
        excess = self.errors - other.errors
        return round(float(excess.mean()), _ERROR_DIGITS) <= float(excess.std()) / sqrt(len(excess))


def calibrate_from_calls(
    simulator: Simulator,
    observed: list[Observation],
    messages: Costs | None,
    simulated: bool,
    burst: tuple[float, ...] = NO_BURST,
) -> Calibration:
    """Choose the model that predicts algorithms best from the others, in three steps.

    It chooses first the cost lines, then which ranks of a node have separate costs, then the eager limit and how links
    are shared. `burst` is that of Costs.
    """
    times = np.array([each.time for each in observed])

    def fitted(start: Costs) -> _Model:
        found = estimate(simulator, observed, start)
        error, left_out = model_error(observed, found.amounts, vector(start))
        own = np.log(np.maximum(found.amounts @ vector(found.costs), 1e-9) / times)
        return _Model(error, left_out, found, max(np.abs(left_out), np.abs(own), key=np.mean))

    def fit_all(starts: Iterable[Costs]) -> list[_Model]:
        # The simulator is a separate program and takes most of the time, so threads are enough.
        with on_every_core() as threads:
            return [*threads.map(fitted, starts)]

    def best(models: Iterable[_Model]) -> _Model:
        return min(models, key=lambda each: each.mean_error)

    together = best(fit_all(replace(start, burst=burst) for start in _initial_costs(observed, messages)))
    apart = fit_all(_costs_of_closer_ranks(observed, together.found.costs))
    lines = best((together, *(each for each in apart if _observes_each_line(each.found))))
    by_sharing = fit_all(_costs_by_sharing(observed, lines.found.costs))
    chosen = best(by_sharing)
    found = chosen.found
    # A message that waited for its link gives an upper bound of its port cost, not the cost.
    unlimited = amounts_of(simulator, observed, replace(found.costs, shared=(0.0, 0.0, 0.0)))
    return Calibration(
        costs=found.costs,
        observations=observed,
        paid=np.logical_or(found.amounts.any(axis=0), unlimited.any(axis=0)),
        resampled=resample(observed, found),
        error=chosen.error,
        left_out=np.exp(chosen.left_out),
        fitted=tuple((found.amounts @ vector(found.costs)).tolist()),
        simulated=simulated,
        schedules=len(np.unique(different_schedules([each.call for each in observed], found.amounts))),
        relations=frozenset(_relations(observed)),
        alternatives=tuple(each.found.costs for each in by_sharing if each is not chosen and each.as_good_as(chosen)),
    )


def _initial_costs(observed: list[Observation], messages: Costs | None) -> Iterator[Costs]:
    """Initial costs, for each division of sizes that the measured sizes can distinguish."""
    shortest = min(each.time for each in observed)
    sizes = [size_of(each.call) for each in observed]
    lines: tuple[CostLine, ...] = (CostLine(gap=shortest / 2, per_byte=_per_byte(observed)),)
    if messages is not None:
        lines = messages.messages[relation_with_costs(messages.messages, Relation.node)]
    whole = replace(messages or Costs(), messages=(*NO_CLOSER_LINES, lines))
    within = _relations_within_node(observed)
    together = within[0] if len(within) == 1 else Relation.node
    own = tuple(line.first_bytes for line in lines)
    for firsts in dict.fromkeys((*_SIZE_DIVISIONS, own[:3])):
        if all(first <= max(sizes) for first in firsts):
            divided = with_lines(whole, firsts).messages[Relation.node]
            inside = (divided if relation == together else () for relation in _WITHIN_NODE)
            yield Costs(
                reduced=whole.reduced,
                shared=_initial_link_costs(observed),
                eager_below=_EAGER_LIMITS[2],
                messages=(*inside, *[divided] * (_farthest_relation(observed) - Relation.node)),
            )


def _per_byte(observed: list[Observation]) -> float:
    return min(each.time / max(size_of(each.call), 1) for each in observed)


def _farthest_relation(observed: list[Observation]) -> Relation:
    """The most distant relation of communicating ranks, at least `node`."""
    return max({Relation.node, *_relations(observed)})


def _place_sets(observed: list[Observation]) -> set[tuple[RankPlace, ...]]:
    return {each.call.places for each in observed if isinstance(each.call.places, tuple)}


def _relations(observed: list[Observation]) -> set[Relation]:
    return {each for places in _place_sets(observed) for each in relations_among(places)}


def _initial_link_costs(observed: list[Observation]) -> tuple[float, ...]:
    """Initial costs of shared links: as slow as one message's, so that the first simulation finds which messages may
    wait for which. Links that no ranks are known to share cost nothing."""
    farthest, known = _farthest_relation(observed), any(_place_sets(observed))
    return tuple(_per_byte(observed) if known and relation <= farthest else 0.0 for relation in SHARED_BY)


def _costs_of_closer_ranks(observed: list[Observation], found: Costs) -> Iterator[Costs]:
    """Initial costs with separate lines for closer ranks of a node: for two sockets, then for two caches."""
    within = _relations_within_node(observed)
    lines = found.messages[Relation.node]
    for closest in range(len(within) - 2, -1, -1):
        inside = (lines if each in within[closest:] else () for each in _WITHIN_NODE)
        yield replace(found, messages=(*inside, *found.messages[Relation.group :]))


def _costs_by_sharing(observed: list[Observation], found: Costs) -> Iterator[Costs]:
    """Initial costs, for each eager limit and way of sharing links.

    With fair sharing, messages pass links at the same time, and memory also limits messages to other nodes. So a link
    may have a limit although no call of `found` waited for it.
    """
    again = tuple(cost or first for cost, first in zip(found.shared, _initial_link_costs(observed), strict=True))
    for limit, fair in product(_EAGER_LIMITS, (False,) if any(found.burst) else (False, True)):
        yield replace(
            found,
            eager_below=limit,
            eager=found.eager if limit else 0.0,
            shared=again if fair else found.shared,
            fair=fair,
        )


_WITHIN_NODE = (Relation.cache, Relation.socket, Relation.node)


def _relations_within_node(observed: list[Observation]) -> list[Relation]:
    """The relations of ranks within a node in any call, the closest first."""
    relations = _relations(observed)
    return [each for each in _WITHIN_NODE if each in relations]


def _observes_each_line(found: CostEstimate) -> bool:
    """Whether each line between ranks of a node is on the critical path of some call; otherwise its cost is unknown."""
    return all(
        any(paid)
        for term, paid in zip(terms(found.costs), found.amounts.T, strict=True)
        if term.kind == "latency" and term.relation in _WITHIN_NODE
    )
