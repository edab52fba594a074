"""The cells of one algorithm on a number of ranks, and why others can't be measured."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from math import isqrt

from timpani.campaign.plan.rank_pairs import DistinctPairs, between_ranks, missing_ranks
from timpani.libraries.catalogue import AlgorithmInfo
from timpani.study.cell import Algorithm, Cell, Skipped
from timpani.study.keys import DATATYPES
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_sizes
from timpani.study.study import Study
from timpani.study.words import counted


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
