"""What the dearest link alone takes: the bytes that must cross it whatever the algorithm, over its rate."""

from collections import Counter
from dataclasses import dataclass

import polars as pl

from timpani.campaign.load import Campaign
from timpani.machine.places import asked_places
from timpani.study.schema import schema

BOUND = "bound_us"
"""The column: microseconds. Null where links' rates aren't known, and for what is no collective that moves data."""


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
    outside = part.all_ranks - part.ranks
    if part.parts == 1:
        return 0
    blocks = {
        "bcast": 1,
        "reduce": 1,
        "allreduce": 2 * (part.parts - 1) / part.parts,
        "reduce_scatter": (part.parts - 1) / part.parts,
        "gather": outside if part.has_root else part.ranks,
        "allgather": max(part.ranks, outside),
        "alltoall": part.ranks * outside,
        "reduce_scatter_block": max(part.ranks, outside),
        "scan": 1,
        "exscan": 1,
    }
    blocks |= {"scatter": blocks["gather"], "allgatherv": blocks["allgather"], "alltoallv": blocks["alltoall"]}
    blocks |= {"gatherv": blocks["gather"], "scatterv": blocks["gather"]}
    return blocks.get(collective, 0) * message_bytes


def with_bounds(cells: pl.DataFrame, campaign: Campaign) -> pl.DataFrame:
    """The cells of `campaign`, as `estimate_cells` returns them, with the column BOUND; unchanged where nobody told
    the rates of links."""
    machine, hosts = campaign.header.machine.cluster, campaign.header.machine.hosts
    known = campaign.header.machine.link_rates
    if machine is None or not known:
        return cells
    rows = []
    for ranks, placement in cells.select("ranks", "placement").unique().iter_rows():
        nodes = [place.host for place in asked_places(machine, hosts, placement, ranks)]
        if len(nodes) < ranks:
            continue
        levels = {"link": nodes, "uplink": [machine.group_of(node).name for node in nodes]}
        sizes = cells.filter(ranks=ranks, placement=placement).select("collective", "message_bytes").unique()
        for collective, size in sizes.iter_rows():
            bound = max(_microseconds(collective, size, levels[link], rate) for link, rate in known.items())
            rows.append((collective, ranks, placement, size, bound or None))
    key = ("collective", "ranks", "placement", "message_bytes")
    bounds = pl.DataFrame(rows, schema={**schema(*key), BOUND: pl.Float64()}, orient="row")
    return cells.join(bounds, on=key, how="left", maintain_order="left")


def _microseconds(collective: str, size: int, part_of_rank: list[str], rate: float) -> float:
    counts = Counter(part_of_rank)
    parts = (Part(count, len(part_of_rank), len(counts), part == part_of_rank[0]) for part, count in counts.items())
    return max(crossing_bytes(collective, size, part) for part in parts) / rate
