"""Parameters that were swept and changed no message: did the library apply them?"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from timpani.study.cell import Algorithm, Cell
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import cell_of
from timpani.study.sizes import show_sizes
from timpani.study.words import counted

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
