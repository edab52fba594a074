"""Where rank counts leave the first node, and the first switch: what messages cross changes there."""

from collections.abc import Iterator
from itertools import takewhile

import polars as pl

from timpani.campaign.load import Campaign
from timpani.machine.places import asked_places
from timpani.study.placement import category
from timpani.study.schema import schema

NODE_RANKS, SWITCH_RANKS = "node_ranks", "switch_ranks"
"""The columns: how many ranks, in the order of their placement, are on the first node and behind the first switch.
Null where more never leave it, or nobody told."""


def with_boundaries(cells: pl.DataFrame, campaign: Campaign) -> pl.DataFrame:
    """The cells of `campaign`, as `estimate_cells` returns them, with the columns NODE_RANKS and SWITCH_RANKS."""
    columns = {**schema("placement"), NODE_RANKS: pl.Int64(), SWITCH_RANKS: pl.Int64()}
    told = pl.DataFrame(list(_boundaries(cells, campaign)), schema=columns, orient="row")
    return cells.join(told, on="placement", how="left", maintain_order="left")


def _boundaries(cells: pl.DataFrame, campaign: Campaign) -> Iterator[tuple[str, int | None, int | None]]:
    machine, hosts = campaign.header.machine.cluster, campaign.header.machine.hosts
    if machine is None:
        return
    for (placement,), part in cells.group_by("placement"):
        if category(str(placement)) is not None:  # each rank count has nodes of its own
            continue
        nodes = [place.host for place in asked_places(machine, hosts, str(placement), max(part["ranks"]))]
        switches = [machine.switches.get(node) for node in nodes]
        yield str(placement), _stay(nodes), _stay(switches) if None not in switches else None


def _stay(parts: list[str] | list[str | None]) -> int | None:
    """How many are in the same part as the first, before one isn't."""
    staying = sum(1 for _ in takewhile(lambda part: part == parts[0], parts))
    return staying if staying < len(parts) else None
