"""Measured calls of Timpani's algorithms, as calls that can be simulated."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.message_locality import localities_of, locality_of, seats_of
from timpani.errors import UserError
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.machine.nodes.locality import DIFFERENT_NODES, DIFFERENT_SWITCH, LEVELS, SAME_NODE, SAME_SWITCH, Seat
from timpani.machine.nodes.model import Machine
from timpani.schedules.algorithms.simulation import (
    NO_CLOSER_LINES,
    CostLine,
    Costs,
    RankPlace,
    Relation,
    SimulatedCall,
)
from timpani.schedules.predict.calibrate import Observation
from timpani.stats.fit import LATENCY, CurveFit, costs_from_zero, fit
from timpani.study.cell import OWN, TOGETHER, Algorithm, parse_parameters
from timpani.study.schema import MACHINE_CELL, MEASURED_US, is_timpani_schedule

Places = tuple[RankPlace, ...]


def observations(campaign: Campaign) -> list[Observation]:
    """One observation for each cell of a Timpani algorithm, with its times."""
    rows = campaign.results.filter(is_timpani_schedule(), pl.col("error").is_null(), MEASURED_US > 0)
    cells = rows.group_by(MACHINE_CELL, maintain_order=True).agg(
        MEASURED_US.sort_by("launch").alias("times"), pl.col("oversubscribed").any().alias("oversubscribed")
    )
    places = places_of(campaign)
    element_bytes = campaign.header.study.element_bytes_of
    return [
        Observation(
            call_of(row, element_bytes(row["collective"]), places.get((row["ranks"], row["placement"]), ())),
            tuple(row["times"]),
            # Without a deadline: ranks that share cores, the OSU method and imports start after a barrier.
            at_deadline=not row["oversubscribed"] and campaign.header.study.at_deadline,
        )
        for row in cells.iter_rows(named=True)
    ]


def call_of(row: Mapping[str, object], element_bytes: int, places: Places) -> SimulatedCall:
    """The call of a cell, from its columns."""
    return SimulatedCall(
        collective=str(row["collective"]),
        algorithm=Algorithm(OWN, str(row["algorithm"]), parse_parameters(str(row["parameters"]))),
        ranks=int(str(row["ranks"])),
        count=int(str(row["message_bytes"])) // element_bytes,
        element_bytes=element_bytes,
        places=places,
    )


def places_of(campaign: Campaign) -> dict[tuple[int, str], Places]:
    """The recorded places of ranks, by rank count and placement."""
    machine = campaign.header.machine.cluster
    return {key: places_on(seats, machine) for key, seats in seats_of(campaign).items()}


def places_on(seats: Iterable[Seat], machine: Machine | None) -> Places:
    """The place of each rank; nodes with an unknown switch form one group."""
    switches = machine.switches if machine else {}
    nodes, groups = _Numbers(), _Numbers()
    return tuple(
        RankPlace(nodes[each.host], groups[switches.get(each.host, "")], each.socket, each.cache) for each in seats
    )


class _Numbers(dict[str, int]):
    """Numbers names in the order of first use."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def of_one_mode(campaigns: Sequence[Campaign], announce: Callable[[str], None]) -> list[Campaign]:
    """Only what gives costs, in one mode: of the modes that all campaigns have, the one with the most results."""
    gives_costs = is_timpani_schedule() | pl.col("collective").is_in([LATENCY, _REDUCTION])
    counts = [Counter(each.results.filter(gives_costs)["mode"]) for each in campaigns]
    total = sum(counts, Counter[str]())
    if len(total) == 1:
        return [*campaigns]
    if common := [mode for mode in total if all(mode in each for each in counts)]:
        mode = max(common, key=total.__getitem__)
        announce(f"costs from {total[mode]} of {total.total()} results: those with the mode {mode!r}")
        gives_costs &= pl.col("mode") == mode
    return [replace(each, results=each.results.filter(gives_costs)) for each in campaigns]


def check_comparable(campaigns: Sequence[Campaign]) -> None:
    """UserError if ranks entered late in a campaign, if two campaigns differ in machine, library, cache mode, method or
    kind of call, or if they are the same one."""
    late = [pattern for each in campaigns for pattern in each.results["arrival"].unique() if pattern != TOGETHER]
    if late:
        raise UserError(
            f"ranks entered {late[0]}, and costs follow from calls that ranks enter together",
            "name campaigns without --arrival",
        )
    for what, values in (
        ("machines", [campaign.header.machine.name or "" for campaign in campaigns]),
        ("MPI libraries", [library_of(campaign) for campaign in campaigns]),
        ("cache modes", [mode for campaign in campaigns for mode in campaign.results["mode"].unique()]),
        ("methods", [campaign.header.study.method for campaign in campaigns]),
        ("kinds of calls", [_setup_time(campaign) for campaign in campaigns]),
    ):
        different = sorted(set(values))
        if len(different) > 1:
            raise UserError(f"costs of {len(different)} {what}: {', '.join(different)}", "name only one of them")
    known: dict[str, Campaign] = {}
    for campaign in campaigns:
        same = known.setdefault(campaign.header.id, campaign)
        if same is not campaign:
            raise UserError(
                f"{same.folder} and {campaign.folder} are one campaign: its calls would count twice", "name it once"
            )


def library_of(campaign: Campaign) -> str:
    """Name and version of the campaign's MPI library."""
    return campaign.header.mpi.title or "unknown"


def _setup_time(campaign: Campaign) -> str:
    return "setup in each call" if campaign.header.study.include_setup else "setup once before all calls"


_REDUCTION = "reduce_local"
"""The operation that gives the cost of reduced bytes."""


_RELATIONS = {
    **dict.fromkeys((LEVELS["core"], LEVELS["last_level_cache"]), Relation.cache),
    LEVELS["socket"]: Relation.socket,
    SAME_NODE: Relation.node,
    **dict.fromkeys((SAME_SWITCH, DIFFERENT_NODES), Relation.group),  # nodes with an unknown switch form one group
    DIFFERENT_SWITCH: Relation.groups,
}
"""The relation for each entry of LOCALITIES."""


def costs_of_pairs(campaigns: Sequence[Campaign]) -> tuple[Costs | None, frozenset[Relation]]:
    """Costs of messages between two ranks, and how close these ranks were (empty if unknown). The first curve of each
    relation is used."""
    curves: list[CurveFit] = []
    between: dict[Relation, CurveFit] = {}
    for campaign in campaigns:
        if not campaign.results["collective"].is_in([LATENCY, _REDUCTION]).any():
            continue
        plain = campaign.of_variant()
        found = fit(plain.results, estimate_cells(raced_results(plain)), f"{campaign.folder}/results.jsonl").curves
        localities = localities_of(campaign)
        for curve in found:
            relation = _RELATIONS.get(locality_of(curve.name, localities) or "")
            if curve.name["collective"] == LATENCY and relation is not None:
                between.setdefault(relation, curve)
        curves += found
    return point_to_point_costs(curves, between), frozenset(between)


def point_to_point_costs(curves: Sequence[CurveFit], between: Mapping[Relation, CurveFit]) -> Costs | None:
    """Costs from measured curves: Hockney's α and β from `latency`, in microseconds, and γ from the first
    `reduce_local`.

    None without a `latency` curve; γ is 0 without a `reduce_local` curve.

    between  the curve of each relation of two ranks; if empty, the first `latency` curve holds for all
    """
    latency, reduction = (
        next((curve for curve in curves if curve.name["collective"] == name), None) for name in (LATENCY, _REDUCTION)
    )
    if latency is None:
        return None
    gamma = 0.0 if reduction is None else max(reduction.regimes[-1].per_byte.value, 0.0)
    if not between:
        return Costs(reduced=gamma, messages=(*NO_CLOSER_LINES, message_lines(latency)))
    farthest = max(between)
    lines = (message_lines(between[each]) if each in between else () for each in Relation if each <= farthest)
    return Costs(reduced=gamma, messages=tuple(lines))


def message_lines(latency: CurveFit) -> tuple[CostLine, ...]:
    """A cost line for each regime of half round trips, in microseconds."""
    costs = costs_from_zero(latency.regimes)
    return tuple(CostLine(first_bytes=first, gap=start, per_byte=per_byte) for first, start, per_byte in costs)
