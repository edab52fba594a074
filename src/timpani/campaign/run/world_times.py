"""Whether the library's own choice for some ranks depends on how many others there are: where messages can't be
counted, times tell.

Times differ from start to start. What is compared is therefore a default's time over that of an algorithm of ours,
which knows nothing but its communicator, measured in turn with it: once among the ranks of a larger start, once in a
start of its own. Such a pair of starts is disturbed now and then all the same, so that what looks different is looked
at again in another pair, and is believed where MOST_PAIRS agree.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from timpani.campaign.folder.raw_record import RawLine
from timpani.campaign.folder.store import Store
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.plan.plan_text import plan_text
from timpani.campaign.run.concurrency import run_to_end
from timpani.campaign.run.launch import one_line
from timpani.campaign.run.processes import Processes
from timpani.campaign.run.start import Start
from timpani.campaign.run.world_check import UNCHECKED, alone, keep_apart, sharing_defaults, starts_to_check
from timpani.libraries.catalogue import Catalogue, Restrictions
from timpani.study.cell import Algorithm
from timpani.study.counted import counted
from timpani.study.sizes import show_size

FACTOR = 1.25
"""By which a default's time has to differ at least to be looked at again."""

MOST_PAIRS = 5
"""Pairs of starts that have to agree. On a busy machine, of a hundred defaults that are the same 18 looked different in
one pair, 0.8 in three, 0.07 in five (docs/benchmarks/shared-starts.md)."""

_FEWEST = 24
"""Defaults that tell how large a difference is seen: a further one is disturbed more than all n of them in 1 of n + 1,
on the side that hides a difference in half of these, and five pairs have to agree: 1 − 2.5/(n + 1) ≥ 90 %."""

_QUANTILE = 0.98
"""Of how far pairs of starts are off, where more defaults than 50 tell it: exceeded on that side by one pair in a
hundred, or by one of five in twenty defaults."""

_PRECISION = 0.05

_TOO_SHORT = "it, or ours beside it, is under the clock's resolution"


def suspected(ratios: Sequence[float]) -> bool:
    """Whether a default may depend on the ranks beside its own: `ratios` are of its time among more ranks to its time
    alone, one of each pair of starts so far, above 0."""
    return min(ratios) > FACTOR or max(ratios) < 1 / FACTOR


def least_seen(ratios: Collection[float]) -> float | None:
    """The factor from which on nine in ten differences are seen, on average over defaults such as those whose `ratios`
    in a pair of starts these are, and which are the same; None where they are too few to tell.

    By a quantile of the ratios as they are: those of a few pairs are larger than any normal distribution has them.
    """
    if len(ratios) < _FEWEST:
        return None
    return FACTOR * float(np.exp(np.quantile(np.abs(np.log(list(ratios))), _QUANTILE, method="higher")))


def _missed(ratios: Collection[float]) -> str:
    """What a check may miss, in words; `ratios` as in `least_seen`."""
    smallest = f"{100 * (FACTOR - 1):.0f} %"
    if (factor := least_seen(ratios)) is None:
        few = f"{counted(len(ratios), 'cell')} {'is' if len(ratios) == 1 else 'are'} too few to tell"
        return f"they miss one of under {smallest}, and may miss larger ones: how large, {few}"
    seen = f"{100 * (factor - 1):.0f} %" if factor < 2 else f"a factor of {factor:.1f}"
    return f"they miss one of under {smallest}, and may miss larger ones: of those of {seen} about one in ten"


def reference(ours: Catalogue, collective: str) -> Algorithm:
    """The algorithm of ours that a default of `collective` is timed beside: the first that runs on any ranks."""
    name = next(each.name for each in ours.algorithms[collective] if each.restrictions == Restrictions())
    return Algorithm(ours.provider, name)


@dataclass
class WorldTimer:
    """A campaign whose defaults are timed among more ranks and alone, in starts that add nothing to its results.

    stop  whether the user wants an end
    over  whether that, or the check's time is spent
    """

    plan: CampaignPlan
    store: Store
    programs: Path
    ours: Catalogue
    stop: Callable[[], bool]
    over: Callable[[], bool]
    timeout: float
    told: Callable[[str], None]
    _first: dict[PlannedCell, float] = field(default_factory=dict)

    def apart_by_times(self) -> CampaignPlan:
        """The plan, with starts of their own for the rank counts of which a default takes another time on the first
        ranks of a larger start than in one of their own, or couldn't be compared; says which."""
        starts = starts_to_check(self.plan)
        if not starts:
            return self.plan
        self.told(
            "timing the library's own choices on the first ranks of larger starts and alone: "
            f"{counted(starts, 'start')}, at most {MOST_PAIRS * starts}"
        )
        checked = keep_apart(self.plan, self._differing, self.stop, self.told)
        shared = {each.number for group in checked.groups for each in sharing_defaults(group)}
        same = [ratio for each, ratio in self._first.items() if each.number in shared]
        if same and not self.stop():
            self.told(
                "where rank counts share starts, times show no difference between the library's own choices there and "
                f"alone; {_missed(same)}"
            )
        return checked

    def _differing(self, group: Group) -> dict[int, str]:
        apart: dict[int, str] = {}
        suspects = sharing_defaults(group)
        found: dict[PlannedCell, list[float]] = {each: [] for each in suspects}
        for pair in range(1, MOST_PAIRS + 1):
            among = self._proportions(group, suspects)
            own: dict[PlannedCell, float | None] = {}
            for ranks in sorted({each.cell.ranks for each in among}):
                own |= self._proportions(alone(group, ranks), [each for each in among if each.cell.ranks == ranks])
            for each in suspects:
                if each not in own:
                    timed = "the library's own choice couldn't be timed both ways"
                    apart[each.cell.ranks] = UNCHECKED if self.over() else timed
                elif (more := among[each]) and (fewer := own[each]):
                    found[each].append(more / fewer)
                    self._first.setdefault(each, found[each][0])
                else:
                    self._not_timed(each, _TOO_SHORT)
            suspects = [
                each
                for each in suspects
                if each.cell.ranks not in apart and len(found[each]) == pair and suspected(found[each])
            ]
        for each in suspects:
            ratio = float(np.median(found[each]))
            what = f"{each.cell.collective} of {show_size(each.cell.message_bytes)}"
            apart[each.cell.ranks] = f"among {group.ranks} the library's own {what} takes {ratio:.2g} times as long"
        compared = {each.cell.ranks for each in found if found[each]}
        uncompared = {each.cell.ranks for each in found} - compared
        return dict.fromkeys(uncompared, f"the library's own choice couldn't be compared: {_TOO_SHORT}") | apart

    def _proportions(self, group: Group, defaults: Sequence[PlannedCell]) -> Mapping[PlannedCell, float | None]:
        """The times of `defaults` over those of our algorithms beside them, in a start of `group`: None where one was
        too short for the clock, nothing where the start failed at one."""
        if self.over() or not defaults:
            return {}
        cells = [cell for each in sorted(defaults, key=lambda each: each.cell.ranks) for cell in self._in_turn(each)]
        slot = self.plan.study.slot
        text = plan_text(self._timed, group, cells, slot, method="timpani")
        start = Start.record(self._timed, self.store, self._processes, self.programs, group, text, None, slot)
        medians: dict[int, float] = {}
        missing = {each.number: each for each in cells}

        def take(line: RawLine) -> None:
            if "measured" in line.values:
                medians[line.values["cell"]] = float(np.median(line.values["measured"]["completion_ns"]))
                del missing[line.values["cell"]]
            elif "mistake" in line.values:
                self._not_timed(missing.pop(line.values["cell"]), line.values["mistake"])

        ended = run_to_end(start.follow(self.timeout, self.over, take))
        start.end(ended, {})
        if ended.how in ("died", "hung") and missing:
            first, *others = missing.values()
            self._not_timed(first, f"{ended.how}: {one_line(ended.output)}")
            if others:
                self.told(f"not timed: {counted(len(others), 'cell')} after it")
        timed = {each: [medians.get(one.number) for one in self._in_turn(each)] for each in defaults}
        return {
            each: its / ours if its > 0 and ours > 0 else None
            for each, (its, ours) in timed.items()
            if its is not None and ours is not None
        }

    def _in_turn(self, default: PlannedCell) -> Iterator[PlannedCell]:
        """The cells of the point that tells a default's proportion."""
        yield default
        algorithm = reference(self.ours, default.cell.collective)
        number = default.number + self.plan.cells[-1].number + 1
        yield replace(default, number=number, cell=replace(default.cell, algorithm=algorithm))

    @cached_property
    def _timed(self) -> CampaignPlan:
        """The plan, measured as defaults are timed here whatever the study's protocol."""
        protocol = {"precision": _PRECISION, "warmup": None, "repetitions": None, "include_setup": False}
        return replace(self.plan, study=self.plan.study.model_copy(update=protocol))

    @cached_property
    def _processes(self) -> Processes:
        return Processes(self.store.mark, self.told)

    def _not_timed(self, planned: PlannedCell, why: str) -> None:
        cell = planned.cell
        where = f"{counted(cell.ranks, 'rank')}, {show_size(cell.message_bytes)}"
        self.told(f"not timed: {cell.collective} {cell.algorithm}, {where}: {why}")
