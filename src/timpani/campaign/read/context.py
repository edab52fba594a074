"""What the machine that a campaign ran on says of its cells: which nodes their ranks were on, and what links take."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.libraries.library import HostList
from timpani.machine.describe import MachineDescription
from timpani.machine.nodes.host_list import requested_places
from timpani.machine.nodes.model import Machine
from timpani.study.cell import RankLayout, category
from timpani.study.operations import OPERATIONS, Movement
from timpani.study.schema import BOUND, NODE_RANKS, SWITCH_RANKS, schema


def rank_layouts(campaign: Campaign) -> dict[tuple[int, str], RankLayout]:
    """The layout of each rank count and placement that was measured; none where ranks went over all slots and on."""
    machine, hosts = campaign.header.machine.cluster, campaign.header.machine.hosts
    found: dict[tuple[int, str], RankLayout] = {}
    for ranks, placement in campaign.results.select("ranks", "placement").unique().iter_rows():
        if machine is None:
            found[ranks, placement] = RankLayout(1, ranks)
            continue
        on = Counter(_nodes(machine, hosts, placement, ranks))
        if on.total() == ranks:
            found[ranks, placement] = RankLayout(len(on), max(on.values()))
    return found


def machine_layouts(campaign: Campaign) -> dict[str, dict[tuple[int, str], RankLayout]]:
    """By machine the layouts of `rank_layouts`."""
    return {name: rank_layouts(each) for name, each in campaign.by_machine().items()}


def with_boundaries(cells: pl.DataFrame, campaign: Campaign) -> pl.DataFrame:
    """The cells of `campaign`, as `estimate_cells` returns them, with the columns NODE_RANKS and SWITCH_RANKS."""
    columns = {NODE_RANKS: pl.Int64(), SWITCH_RANKS: pl.Int64()}
    return _with_columns(cells, campaign, ("machine", "placement"), columns, _boundaries)


def _with_columns(
    cells: pl.DataFrame,
    campaign: Campaign,
    key: tuple[str, ...],
    columns: Mapping[str, pl.DataType],
    rows_of: Callable[[pl.DataFrame, MachineDescription], Iterator[tuple[Any, ...]]],
) -> pl.DataFrame:
    """The cells with further columns. `rows_of` one machine's cells has the rest of the key and the new values."""
    rows = [
        (name, *found)
        for name, each in campaign.by_machine().items()
        for found in rows_of(cells.filter(machine=name), each.header.machine)
    ]
    table = pl.DataFrame(rows, schema={**schema(*key), **columns}, orient="row")
    return cells.join(table, on=key, how="left", maintain_order="left")


def _boundaries(cells: pl.DataFrame, described: MachineDescription) -> Iterator[tuple[str, int | None, int | None]]:
    machine = described.cluster
    if machine is None:
        return
    for (placement,), part in cells.group_by("placement"):
        if category(str(placement)) is not None:  # each rank count has separate nodes
            continue
        nodes = _nodes(machine, described.hosts, str(placement), max(part["ranks"]))
        switches = [machine.switches.get(node) for node in nodes]
        yield str(placement), _stay(nodes), _stay(switches) if None not in switches else None


def _stay(parts: list[str] | list[str | None]) -> int | None:
    """How many are in the same part as the first, before one isn't."""
    staying = sum(1 for _ in takewhile(lambda part: part == parts[0], parts))
    return staying if staying < len(parts) else None


def with_bounds(cells: pl.DataFrame, campaign: Campaign) -> pl.DataFrame:
    """The cells of `campaign`, as `estimate_cells` returns them, with the column BOUND; unchanged if the rates
    of links are unknown."""
    machines = (each.header.machine for each in campaign.by_machine().values())
    if not any(each.cluster and each.link_rates for each in machines):
        return cells
    key = ("machine", "collective", "ranks", "placement", "message_bytes")
    return _with_columns(cells, campaign, key, {BOUND: pl.Float64()}, _bounds)


def _bounds(cells: pl.DataFrame, described: MachineDescription) -> Iterator[tuple[str, int, str, int, float | None]]:
    """Collective, ranks, placement, size and bound of the cells of one machine."""
    machine, rates = described.cluster, described.link_rates
    if machine is None or not rates:
        return
    for ranks, placement in cells.select("ranks", "placement").unique().iter_rows():
        nodes = _nodes(machine, described.hosts, placement, ranks)
        if len(nodes) < ranks:
            continue
        levels = {"link": nodes, "uplink": [machine.group_of(node).name for node in nodes]}
        sizes = cells.filter(ranks=ranks, placement=placement).select("collective", "message_bytes").unique()
        for collective, size in sizes.iter_rows():
            bound = max(_microseconds(collective, size, levels[link], rate) for link, rate in rates.items())
            yield collective, ranks, placement, size, bound or None


@dataclass(frozen=True)
class Part:
    """A node, or a group of nodes: its ranks, of how many in all, and of how many such parts."""

    ranks: int
    all_ranks: int
    parts: int
    has_root: bool


def crossing_bytes(collective: str, message_bytes: int, part: Part) -> float:
    """The bytes that must at least enter or leave the part, whichever is more; `message_bytes` as studies count it.

    A part must get what it lacks and give what the others lack. Of a reduction one vector leaves it; of an allreduce
    2 (n − 1)/n vectors, where all n parts share the work (Patarasuk & Yuan, JPDC 2009); of a broadcast one enters.
    """
    movement = OPERATIONS[collective].movement if collective in OPERATIONS else None
    if movement is None or part.parts == 1:
        return 0
    return _crossing(movement, part) * message_bytes


def _crossing(movement: Movement, part: Part) -> float:
    """The vectors, or blocks, whose bytes `crossing_bytes` gives."""
    outside = part.all_ranks - part.ranks
    moved = {movement.send.content, movement.receive.content}
    if "pairs" in moved:
        return part.ranks * outside
    if "blocks" in moved and movement.rooted:
        return outside if part.has_root else part.ranks
    if "blocks" in moved:
        return max(part.ranks, outside)
    if "part" in moved:
        return (part.parts - 1) / part.parts
    if movement.result == "sum" and not movement.rooted:
        return 2 * (part.parts - 1) / part.parts
    return 1 if "vector" in moved else 0


def _microseconds(collective: str, size: int, part_of_rank: list[str], rate: float) -> float:
    counts = Counter(part_of_rank)
    parts = (Part(count, len(part_of_rank), len(counts), part == part_of_rank[0]) for part, count in counts.items())
    return max(crossing_bytes(collective, size, part) for part in parts) / rate


def _nodes(machine: Machine, hosts: HostList, placement: str, ranks: int) -> list[str]:
    """The node of each rank, in rank order; of fewer than `ranks` where they have to share cores."""
    return [place.host for place in requested_places(machine, hosts, placement, ranks)]
