"""What to know of a campaign's conditions and records before its figures are believed."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from timpani.campaign.folder.load import Campaign, sample_warnings
from timpani.libraries.outside_settings import baseline_warnings
from timpani.slices import Hook
from timpani.study.cell import Algorithm, Cell
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import cell_of
from timpani.study.sizes import show_sizes
from timpani.study.words import counted

_FURTHER: Hook[Callable[[Campaign], Iterator[str]]] = Hook("CAMPAIGN_WARNINGS")

DISTURBING_SHARE = 0.1
"""Of a machine's cores: other processes that keep more of them busy show in medians, as the doctor warns."""

TOO_BUSY_SHARE = 0.25
"""Of a machine's cores: with more of them busy, more launches are no way to decide, and no forecast holds."""

STEAL_SHARE = 0.02
"""Of a machine's processor time, given by a hypervisor to others: more of it shows in medians."""


@dataclass(frozen=True)
class MachineLoad:
    """What one machine did in addition to the ranks, over all launches that recorded it. Cores are means over the
    measured time.

    starts       launches that recorded it
    others       cores that processes other than the ranks kept busy
    most_others  the same in the worst launch of a second or more; None where none was that long
    stolen       cores' worth of time that a hypervisor gave to others
    """

    host: str
    cores: int
    starts: int
    others: float
    most_others: float | None
    stolen: float

    @property
    def is_disturbing(self) -> bool:
        """Whether figures measured under this load should be believed less."""
        return any(self.disturbances())

    def disturbances(self) -> Iterator[str]:
        """What of it shows in medians, in words."""
        if self.others > DISTURBING_SHARE * self.cores:
            most = f", up to {self.most_others:.1f} in one launch" if self.most_others is not None else ""
            yield f"other processes kept {self.others:.1f} of {self.cores} cores busy on average{most}"
        if self.stolen > STEAL_SHARE * self.cores:
            yield f"the hypervisor gave {self.stolen:.2f} of {self.cores} cores to others on average"


def machine_loads(launches: Iterable[Mapping[str, Any]]) -> list[MachineLoad]:
    """The load of each machine, by host, from launches.jsonl; a simulated launch has none.

    The kernel counts in ticks of 10 ms, so that one launch of a few milliseconds says nothing alone: what counts
    is the sum over launches.
    """
    activity: dict[str, list[Mapping[str, Any]]] = {}
    for launch in launches:
        for machine in launch.get("machines") or []:
            if machine["seconds"] > 0:
                activity.setdefault(machine["host"], []).append(machine)
    return [_load(host, each) for host, each in sorted(activity.items())]


def _load(host: str, activity: list[Mapping[str, Any]]) -> MachineLoad:
    seconds = sum(each["seconds"] for each in activity)
    others = sum(each["busy_s"] - each["own_s"] for each in activity)
    long = [max(0.0, each["busy_s"] - each["own_s"]) / each["seconds"] for each in activity if each["seconds"] >= 1]
    return MachineLoad(
        host=host,
        cores=max(each["cores"] for each in activity),
        starts=len(activity),
        others=max(0.0, others) / seconds,
        most_others=max(long, default=None),
        stolen=sum(each["steal_s"] for each in activity) / seconds,
    )


def too_busy(launches: Iterable[Mapping[str, Any]]) -> str:
    """A sentence if a machine was too busy to decide what is undecided; else empty."""
    for load in machine_loads(launches):
        if load.others > TOO_BUSY_SHARE * load.cores:
            return (
                f"This machine was too busy to decide more: other programs used {load.others:.1f} of "
                f"{counted(load.cores, 'core')}. When it is idle, measure again into another folder."
            )
    return ""


def load_warnings(launches: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each machine that was too busy with other processes, for the top of what a campaign prints."""
    for load in machine_loads(launches):
        if what := " and ".join(load.disturbances()):
            yield f"measured under load: on {load.host} {what}; these figures say little about the idle machine"


_Values = dict[int, str]
"""A parameter's values, and the messages that were counted with each."""


def without_effect(proofs: Iterable[Mapping[str, Any]]) -> list[str]:
    """In words, each parameter of which several values were counted that sent the same messages at every point.

    `proofs` as a campaign's `proofs`. What a parameter does may be nothing that messages show: their order, say.
    """
    sweeps: defaultdict[tuple[str, Algorithm, str], defaultdict[Cell, _Values]] = defaultdict(lambda: defaultdict(dict))
    for proof in proofs:
        if proof["collective"] not in COLLECTIVES:
            continue
        cell = cell_of(proof)
        for swept, value in cell.algorithm.parameters:
            others = tuple(each for each in cell.algorithm.parameters if each[0] != swept)
            point = replace(cell, algorithm=replace(cell.algorithm, parameters=others))
            sent = f"{proof['messages']} {proof['bytes']}"
            sweeps[cell.collective, replace(cell.algorithm, parameters=()), swept][point][value] = sent
    return [_sentence(*which, points) for which, points in sorted(sweeps.items()) if _all_equal(points)]


def _all_equal(points: Mapping[Cell, _Values]) -> bool:
    several = any(len(sent) > 1 for sent in points.values())
    return several and all(len(set(sent.values())) == 1 for sent in points.values())


def _sentence(collective: str, algorithm: Algorithm, parameter: str, points: Mapping[Cell, _Values]) -> str:
    values = ", ".join(map(str, sorted({value for sent in points.values() for value in sent})))
    ranks = counted(max(point.ranks for point in points), "rank")
    sizes = show_sizes(sorted({point.message_bytes for point in points}))
    return (
        f"{collective} {algorithm.label} sent the same messages with {parameter} {values} "
        f"(up to {ranks}, {sizes}): nothing counted here shows that {parameter} was applied"
    )


def campaign_warnings(campaign: Campaign) -> Iterator[str]:
    """A sentence for each setting that decides the default, each faster variant that changed nothing, each busy machine
    and each start with wrong samples."""
    yield from baseline_warnings(campaign.header.outside or ())
    for warnings in _FURTHER.added():
        yield from warnings(campaign)
    yield from load_warnings(campaign.launches)
    yield from sample_warnings(campaign)
