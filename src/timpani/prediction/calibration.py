"""Costs of a machine from campaigns that were measured on it, and how far predictions with them may be off."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.native.side_by_side import on_every_core
from timpani.prediction.calibrate import CostEstimate, Observation, amounts_of, estimate, resample, with_lines
from timpani.prediction.comparable import check_comparable, identity, library_of
from timpani.prediction.costs import costs_of_pairs
from timpani.prediction.model_error import Growth, ModelError, different_schedules, model_error, size_of
from timpani.prediction.observed import observations
from timpani.prediction.terms import SHARED_BY, Vector, terms, vector
from timpani.schedules.simulation import (
    NO_BURST,
    NOT_APART,
    CostLine,
    Costs,
    RankPlace,
    Relation,
    Simulator,
    relation_that_tells,
    relations_among,
    tells_sockets,
)
from timpani.study.columns import is_schedule_of_ours
from timpani.study.counted import counted

FEWEST_SCHEDULES = 3
"""Of algorithms of ours, each predicted from the others: fewer tell costs, but not how far these may be off."""

_LINES = ((0,), (0, 4096), (0, 65536), (0, 64, 4096), (0, 512, 32768))
"""Where costs of messages may change, in bytes; and where those of messages between two ranks were found to."""

_EAGER_BELOW = (0, 1025, 4097, 16385, 65537)
"""Where messages may cease to be sent eagerly, in bytes."""

NONE_MEASURED = (
    "measure them: timpani run latency reduce_local -o DIR, and timpani run bcast allreduce --algorithms timpani/all "
    "-o DIR"
)
"""What to do where nothing tells costs."""


@dataclass(frozen=True)
class Calibration:
    """Costs, microseconds and microseconds a byte, and what is known of their errors.

    paid          which parameters a measured call paid, or would have where no link is limited, shape (terms,)
    resampled     costs from resampled launches, shape (resamples, terms)
    error         None where only messages between two ranks were measured, as then is what was left out of the
                  calibration
    left_out      predicted / measured of each observation by a calibration without its algorithm, shape (observations,)
    simulated     whether the machine is
    relations     that ranks whose messages tell the costs had to each other; none where nobody knows
    schedules     how many different ones the measured calls had
    library       whose calls tell the costs, in words
    costs_from    the folders of the campaigns, absolute
    campaigns     the identity of each
    oversubscribed  the rank counts at which there were more ranks than cores
    unknown       measured algorithms of other versions, which can't be simulated and so tell nothing
    """

    costs: Costs
    observations: list[Observation]
    paid: NDArray[np.bool_]
    resampled: NDArray[np.float64]
    error: ModelError | None
    left_out: Vector
    simulated: bool
    relations: frozenset[Relation] = frozenset()
    schedules: int = 0
    library: str = ""
    costs_from: tuple[str, ...] = ()
    campaigns: tuple[str, ...] = ()
    oversubscribed: tuple[int, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def nodes_left(self) -> bool:
        """Whether messages between nodes tell the costs, as far as that is known."""
        return not self.relations or max(self.relations) >= Relation.group

    @property
    def sockets_known(self) -> bool:
        return any(tells_sockets(each.call.places) for each in self.observations)

    def algorithms(self) -> list[str]:
        """Whose calls were measured, by collective and name."""
        return sorted(_names(self.observations))

    def shared_cores(self) -> str | None:
        """What to know of costs that ranks told which had no core of their own."""
        if not self.oversubscribed:
            return None
        counts = ", ".join(map(str, self.oversubscribed))
        return f"at {counts} ranks there were more of them than cores: that says little about a machine with enough"

    def __str__(self) -> str:
        if self.error is None:
            return "costs of messages between two ranks: a call from rest takes longer"
        ranks, sizes = self.error.ranks, self.error.sizes
        algorithms = len(self.algorithms())
        alike = f", {self.schedules} of them different there," if self.schedules < algorithms else ""
        by = f" by {self.library}" if self.library else ""
        return (
            f"costs from {len(self.observations)} cells of {algorithms} algorithms{alike} at {_range(ranks)} ranks, "
            f"{_range(sizes)} B{by}{', simulated' if self.simulated else ''}"
        )

    @property
    def launches(self) -> int:
        """That the call which was measured in the fewest was measured in."""
        return min((len(each.launches) for each in self.observations), default=0)


def _range(measured: Growth) -> str:
    same = measured.least == measured.most
    return str(measured.least) if same else f"{measured.least} to {measured.most}"


def calibrated(simulator: Simulator, campaigns: Sequence[Campaign]) -> Calibration:
    """The costs that campaigns of one machine tell together; UserError where they tell none."""
    found = calibrate(simulator, campaigns)
    if found is None:
        observed = _simulable(simulator, _observations(campaigns))
        names = {(each.call.collective, each.call.algorithm) for each in observed}
        too_few = (
            f"too few algorithms of ours: {counted(len(names), 'algorithm')}, "
            f"{counted(_schedules(simulator, observed), 'different schedule')} on these ranks, where it takes "
            f"{FEWEST_SCHEDULES}"
        )
        what = too_few if names else "neither `latency` nor algorithms of ours"
        raise UserError(f"{', '.join(str(each.folder) for each in campaigns)}: {what}", NONE_MEASURED)
    return found


def calibrate(simulator: Simulator, campaigns: Sequence[Campaign]) -> Calibration | None:
    """The costs that campaigns of one machine tell together; None where they have neither messages between two ranks
    nor algorithms of ours with FEWEST_SCHEDULES different schedules.

    UserError where they can't be taken together.
    """
    check_comparable(campaigns)
    messages, relations = costs_of_pairs(campaigns)
    simulated = any(bool(campaign.results["simulated"].any()) for campaign in campaigns)
    measured = _observations(campaigns)
    observed = _simulable(simulator, measured)
    if _schedules(simulator, observed) >= FEWEST_SCHEDULES:
        burst = max(campaign.header.machine.bursts for campaign in campaigns)
        found = from_calls(simulator, observed, messages, simulated, burst=burst)
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
        campaigns=tuple(map(identity, campaigns)),
        oversubscribed=_oversubscribed(campaigns) if found.error else (),
        unknown=tuple(sorted(_names(measured) - _names(observed))),
    )


def _observations(campaigns: Sequence[Campaign]) -> list[Observation]:
    return [each for campaign in campaigns for each in observations(campaign)]


def _names(observed: list[Observation]) -> set[str]:
    return {f"{each.call.collective}/{each.call.algorithm.plain}" for each in observed}


def _schedules(simulator: Simulator, observed: list[Observation]) -> int:
    """How many different ones the calls have."""
    if not observed:
        return 0
    amounts = amounts_of(simulator, observed, next(_starts(observed, None)))
    return len(np.unique(different_schedules([each.call for each in observed], amounts)))


def _oversubscribed(campaigns: Sequence[Campaign]) -> tuple[int, ...]:
    shared = (campaign.results.filter(is_schedule_of_ours(), "oversubscribed")["ranks"] for campaign in campaigns)
    return tuple(sorted({ranks for each in shared for ranks in each}))


def _simulable(simulator: Simulator, observed: list[Observation]) -> list[Observation]:
    """Those whose schedule the simulator has: an algorithm may have been renamed or removed since the campaign."""
    answers = simulator.times([each.call for each in observed], Costs())
    return [each for each, answer in zip(observed, answers, strict=True) if isinstance(answer, float | int)]


def from_calls(
    simulator: Simulator,
    observed: list[Observation],
    messages: Costs | None,
    simulated: bool,
    noise: tuple[float, ...] = (),
    burst: tuple[float, ...] = NO_BURST,
) -> Calibration:
    """With the lines, then the ranks of a node that are told apart, then the eager limit and the way of sharing, under
    which algorithms are predicted best from the others; `noise` and `burst` as of Costs."""

    def tried(start: Costs) -> tuple[ModelError, Vector, CostEstimate]:
        found = estimate(simulator, observed, start)
        return *model_error(observed, found.amounts, vector(start)), found

    times = np.array([each.time for each in observed])

    def mean_error(found: tuple[ModelError, Vector, CostEstimate]) -> float:
        # Costs for others are solved for along the paths of these; these may not be those of their own paths.
        _, left_out, all_told = found
        own = np.log(np.maximum(all_told.amounts @ vector(all_told.costs), 1e-9) / times)
        return float(max(np.abs(left_out).mean(), np.abs(own).mean()))

    def all_tried(starts: Iterable[Costs]) -> list[tuple[ModelError, Vector, CostEstimate]]:
        # The simulator, a program of its own, takes most of the time.
        with on_every_core() as threads:
            return [*threads.map(tried, starts)]

    together = min(
        all_tried(replace(start, noise=noise, burst=burst) for start in _starts(observed, messages)), key=mean_error
    )
    apart = [each for each in all_tried(_apart(observed, together[-1].costs)) if _tells_each_line(each[-1])]
    *_, found = min((together, *apart), key=mean_error)
    error, left_out, found = min(all_tried(_ways(observed, found.costs)), key=mean_error)
    # Of a message that waited for its link it isn't seen what its ports take, but that it can't be more.
    unlimited = amounts_of(simulator, observed, replace(found.costs, shared=(0.0, 0.0, 0.0)))
    return Calibration(
        costs=found.costs,
        observations=observed,
        paid=np.logical_or(found.amounts.any(axis=0), unlimited.any(axis=0)),
        resampled=resample(observed, found),
        error=error,
        left_out=np.exp(left_out),
        simulated=simulated,
        schedules=len(np.unique(different_schedules([each.call for each in observed], found.amounts))),
        relations=frozenset(each for call in _placed(observed) for each in relations_among(call)),
    )


def _starts(observed: list[Observation], messages: Costs | None) -> Iterator[Costs]:
    """Costs to begin with, for each way of dividing sizes that the measured ones tell apart."""
    shortest = min(each.time for each in observed)
    sizes = [size_of(each.call) for each in observed]
    lines: tuple[CostLine, ...] = (CostLine(gap=shortest / 2, per_byte=_per_byte(observed)),)
    if messages is not None:
        lines = messages.messages[relation_that_tells(messages.messages, Relation.node)]
    whole = replace(messages or Costs(), messages=(*NOT_APART, lines))
    within = _within(observed)
    together = within[0] if len(within) == 1 else Relation.node
    own = tuple(line.first_bytes for line in lines)
    for firsts in dict.fromkeys((*_LINES, own[:3])):
        if all(first <= max(sizes) for first in firsts):
            divided = with_lines(whole, firsts).messages[Relation.node]
            inside = (divided if relation == together else () for relation in _WITHIN)
            yield Costs(
                reduced=whole.reduced,
                shared=_shared_at_first(observed),
                eager_below=_EAGER_BELOW[2],
                messages=(*inside, *[divided] * (_farthest(observed) - Relation.node)),
            )


def _per_byte(observed: list[Observation]) -> float:
    return min(each.time / max(size_of(each.call), 1) for each in observed)


def _farthest(observed: list[Observation]) -> Relation:
    """Of ranks that sent each other messages, of a node at least."""
    places = _places(observed)
    if len({place.group for place in places}) > 1:
        return Relation.groups
    return Relation.group if len({place.node for place in places}) > 1 else Relation.node


def _places(observed: list[Observation]) -> set[RankPlace]:
    return {place for places in _placed(observed) for place in places}


def _placed(observed: list[Observation]) -> set[tuple[RankPlace, ...]]:
    return {each.call.places for each in observed if isinstance(each.call.places, tuple)}


def _shared_at_first(observed: list[Observation]) -> tuple[float, ...]:
    """Costs of shared links to begin with: as slow as one message's, so that the first walk finds who may wait for
    whom. No link that nobody is known to share."""
    farthest, known = _farthest(observed), bool(_places(observed))
    return tuple(_per_byte(observed) if known and relation <= farthest else 0.0 for relation in SHARED_BY)


def _apart(observed: list[Observation], found: Costs) -> Iterator[Costs]:
    """Costs to begin with that tell apart ranks of a node which `found` doesn't: of two sockets, then of two caches."""
    within = _within(observed)
    lines = found.messages[Relation.node]
    for closest in range(len(within) - 2, -1, -1):
        inside = (lines if each in within[closest:] else () for each in _WITHIN)
        yield replace(found, messages=(*inside, *found.messages[Relation.group :]))


def _ways(observed: list[Observation], found: Costs) -> Iterator[Costs]:
    """Costs to begin with, for each eager limit and way of sharing.

    Messages that share links fairly pass those in turns no more, but memories on their way to another node: where no
    call of `found` waited for a link it may have a limit all the same.
    """
    again = tuple(cost or first for cost, first in zip(found.shared, _shared_at_first(observed), strict=True))
    for limit, fair in product(_EAGER_BELOW, (False,) if any(found.burst) else (False, True)):
        yield replace(
            found,
            eager_below=limit,
            eager=found.eager if limit else 0.0,
            shared=again if fair else found.shared,
            fair=fair,
        )


_WITHIN = (Relation.cache, Relation.socket, Relation.node)


def _within(observed: list[Observation]) -> list[Relation]:
    """The relations that ranks of a node had to each other in any call, the closest first."""
    relations = {each for places in _placed(observed) for each in relations_among(places)}
    return [each for each in _WITHIN if each in relations]


def _tells_each_line(found: CostEstimate) -> bool:
    """Whether calls were on their way for a message of each line between ranks of a node: else it isn't known."""
    return all(
        any(paid)
        for term, paid in zip(terms(found.costs), found.amounts.T, strict=True)
        if term.kind == "latency" and term.relation in _WITHIN
    )
