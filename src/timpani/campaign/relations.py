"""How close the ranks sat between which messages went, from where each launch really ran them."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from timpani.campaign.load import Campaign
from timpani.campaign.pairs import ranks_of_pairs
from timpani.machine.cpu_list import parse_cpus
from timpani.machine.relation import RELATIONS, Domains, Place, relation
from timpani.study.cell import Algorithm, parse_parameters
from timpani.study.operations import OPERATIONS

RELATION = "relation"
"""The column: one of `RELATIONS`, several joined by commas, or null where no launch told or no pair sends."""


def with_relation(cells: pl.DataFrame, campaign: Campaign) -> pl.DataFrame:
    """The cells of `campaign`, as `estimate_cells` returns them, with the column `relation`."""
    between = [name for name, operation in OPERATIONS.items() if operation.kind == "point-to-point"]
    keys = cells.filter(pl.col("collective").is_in(between)).select("ranks", "parameters").unique()
    found = [
        (ranks, parameters, _relations(ranks, parameters, campaign.launches, campaign.header.get("machine") or {}))
        for ranks, parameters in keys.iter_rows()
    ]
    schema = {"ranks": pl.Int64, "parameters": pl.String, RELATION: pl.String}
    told = pl.DataFrame(found, schema=schema, orient="row")
    is_between = pl.col("collective").is_in(between)
    return cells.join(told, on=["ranks", "parameters"], how="left", maintain_order="left").with_columns(
        pl.when(is_between).then(RELATION)
    )


def _relations(ranks: int, parameters: str, launches: Iterable[dict[str, Any]], machine: dict[str, Any]) -> str | None:
    pairs = ranks_of_pairs(Algorithm("", "", parse_parameters(parameters)))
    found = {
        relation(places[first], places[second], domains_of(machine, places[first].host), {})
        for launch in launches
        if len(places := _places(launch)) == ranks
        for first, second in pairs
    }
    return ", ".join(sorted(found, key=RELATIONS.index)) or None


def _places(launch: dict[str, Any]) -> dict[int, Place]:
    return {each["rank"]: Place(each["host"], frozenset(each["cores"])) for each in launch.get("ranks") or []}


def domains_of(machine: dict[str, Any], host: str) -> Domains:
    """What campaign.json says of the parts of `host`: nothing unless that is the machine it describes."""
    if machine.get("name") != host:
        return {}
    return {level: [parse_cpus(part) for part in parts] for level, parts in (machine.get("domains") or {}).items()}
