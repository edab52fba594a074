"""The cells of one algorithm on a number of ranks, between which ranks it sends, and why others can't be measured."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, product
from math import isqrt
from typing import Literal

from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo
from timpani.libraries.library import HostList
from timpani.machine.cores import Cores
from timpani.machine.nodes.host_list import requested_places
from timpani.machine.nodes.locality import (
    CorePlace,
    nearest_first,
    pair_of_each_locality,
    parts_of,
    requested_core_places,
)
from timpani.machine.nodes.model import Machine
from timpani.study.cell import Algorithm, Cell, Skipped
from timpani.study.keys import DATATYPES
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_sizes
from timpani.study.study import Study
from timpani.study.words import counted

Pairs = Literal["first", "all", "distinct"]

DistinctPairs = Callable[[int], list[tuple[int, int]]]
"""For a rank count one pair of ranks for each locality that they have on the machine."""


def pairs_here(placements: tuple[str, ...], cores: Cores) -> DistinctPairs:
    """The pairs of ranks that sit differently close on this computer's `cores`."""

    def distinct(ranks: int) -> list[tuple[int, int]]:
        if placements != ("core",) or ranks > cores.usable:
            raise UserError(
                "--pairs distinct needs to know which core each rank gets: that is known only with --placement core "
                "and a core for each rank",
                "use --pairs all, or --placement core and fewer ranks",
            )
        fill = nearest_first(cores.domains, frozenset(os.sched_getaffinity(0)))[:ranks]
        return list(pair_of_each_locality([CorePlace("", core) for core in fill], lambda _: cores.domains, {}))

    return distinct


def pairs_on(machine: Machine, hosts: HostList, placements: tuple[str, ...]) -> DistinctPairs:
    """The pairs of ranks that sit differently close on `hosts` of `machine`: on a node, on one switch, across."""

    def distinct(ranks: int) -> list[tuple[int, int]]:
        asked = requested_places(machine, hosts, placements[0], ranks)
        if len(placements) > 1 or len(asked) < ranks:
            raise UserError(
                "--pairs distinct needs to know where each rank runs: that is known only with a single placement and a "
                "core for each rank",
                "use --pairs all, or one --placement and fewer ranks",
            )
        places = requested_core_places(machine, asked)
        return list(pair_of_each_locality(places, lambda node: parts_of(machine, node), machine.switches))

    return distinct


def between_ranks(
    algorithm: Algorithm, info: AlgorithmInfo, ranks: int, pairs: Pairs, distinct: DistinctPairs
) -> Iterator[Algorithm]:
    """`algorithm` with every parameter spelled out: once for each pair of ranks, unless it names a rank itself."""
    asked = dict(algorithm.parameters)
    values = {parameter.name: parameter.default for parameter in info.parameters} | asked
    if values.get("pairs") == 0:  # as the operation's table has it: half of the ranks
        values["pairs"] = ranks // 2
    ends: list[dict[str, int]] = [{}]
    if "first" in values and not {"first", "second"} & asked.keys() and pairs != "first":
        chosen = combinations(range(ranks), 2) if pairs == "all" else distinct(ranks)
        ends = [{"first": first, "second": second} for first, second in chosen]
    for each in ends:
        yield replace(algorithm, parameters=tuple(sorted({**values, **each}.items())))


def ranks_of_pairs(algorithm: Algorithm) -> list[tuple[int, int]]:
    """The ranks between which `algorithm` of a point-to-point operation sends."""
    values = dict(algorithm.parameters)
    if "pairs" in values:
        return [(rank, rank + values["pairs"]) for rank in range(values["pairs"])]
    return [(values["first"], values["second"])] if "first" in values else []


def pairs_among(algorithm: Algorithm, ranks: int) -> list[tuple[int, int]]:
    """The same of a record, whose numbers may be anything; none where they don't name pairs of these ranks."""
    values = dict(algorithm.parameters)
    whole = "pairs" in values or {"first", "second"} <= values.keys()
    ends = [values[name] for name in ("pairs", "first", "second") if name in values]
    return ranks_of_pairs(algorithm) if whole and all(0 <= end < ranks for end in ends) else []


def missing_ranks(algorithm: Algorithm, ranks: int) -> str:
    """Why the pairs of `algorithm` can't be formed from `ranks` ranks, in words; nothing where they can."""
    pairs = ranks_of_pairs(algorithm)
    if any(first == second for first, second in pairs):
        raise UserError(f"{algorithm} sends from a rank to itself", "name two ranks, for example first=0,second=1")
    last = max((max(pair) for pair in pairs), default=0)
    return f"there is no rank {last}" if last >= ranks else ""


def cells_of(
    study: Study, operation: str, algorithm: Algorithm, info: AlgorithmInfo | None, ranks: int, distinct: DistinctPairs
) -> Iterator[Cell | Skipped]:
    """The cells, size by size, and what can't be measured."""
    if info is not None and not info.restrictions.admit(ranks):
        yield Skipped(f"{operation} {algorithm} on {counted(ranks, 'rank')}", f"only for {info.restrictions}")
        return
    kind = OPERATIONS[operation].kind
    sizes = study.sizes_of(operation)
    if kind == "point-to-point" and info is not None:
        for between in between_ranks(algorithm, info, ranks, study.pairs, distinct):
            if why := missing_ranks(between, ranks):
                yield Skipped(f"{operation} {between} on {counted(ranks, 'rank')}", why)
            else:
                yield from _cells_at(sizes, study, operation, between, ranks)
    elif kind == "transpose":
        unfit = defaultdict(list)
        for size in sizes:
            unfit[indivisible(algorithm, ranks, size // DATATYPES[study.datatype_of(operation)])].append(size)
        yield from _cells_at(tuple(unfit.pop("", ())), study, operation, algorithm, ranks)
        for why, odd in unfit.items():
            yield Skipped(f"{operation} {algorithm} on {counted(ranks, 'rank')}, {show_sizes(odd)}", why)
    else:
        yield from _cells_at(sizes, study, operation, algorithm, ranks)


def _cells_at(sizes: tuple[int, ...], study: Study, operation: str, algorithm: Algorithm, ranks: int) -> Iterator[Cell]:
    wanted = study.wanted_points
    for placement, size in product(study.placement, sizes):
        if wanted is None or (operation, ranks, placement, size) in wanted:
            yield Cell(operation, algorithm, ranks, placement, size, study.mode, study.arrival)


def indivisible(algorithm: Algorithm, ranks: int, elements: int) -> str:
    """Why a matrix of `elements` elements can't be transposed by `algorithm`, in words; nothing where it can."""
    rows = dict(algorithm.parameters).get("rows", 0) or _most_square(elements)
    if elements % max(1, rows):
        return f"the elements can't be divided into {rows} rows"
    if algorithm.name == "alltoall" and (rows % ranks or (elements // max(1, rows)) % ranks):
        return "the numbers of rows and columns must be multiples of the number of ranks"
    return ""


def _most_square(elements: int) -> int:
    """The largest divisor up to the square root: the rows that the measuring program takes where none are asked for."""
    return next((rows for rows in range(isqrt(elements), 0, -1) if elements % rows == 0), 0)
