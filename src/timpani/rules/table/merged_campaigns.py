"""Merge campaigns of one library on one machine into one, for one selection table."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from timpani.campaign.folder.load import Campaign, load_one_machine
from timpani.errors import UserError
from timpani.study.schema import MACHINE_CELL, POINT
from timpani.tuning.race.results import raced_points


def load_together(folders: Sequence[Path]) -> Campaign:
    """The results and counted messages of the campaigns in `folders`, with the header of the first.

    A point that a race only sampled is dropped if another campaign measured it. UserError if the campaigns measured
    different libraries or machines, or if two campaigns measured the same cell.
    """
    first, *others = map(load_one_machine, folders)
    for other in others:
        for what, one, two in (
            ("MPI library", first.header.mpi.title, other.header.mpi.title),
            ("machine", first.header.machine.name, other.header.machine.name),
        ):
            if one != two:
                raise UserError(
                    f"{other.folder} was measured with {what} {two}, and {first.folder} with {one}",
                    "name campaigns of one library on one machine",
                )
    if not others:
        return first
    campaigns = (first, *others)
    results = pl.concat([raced_points(each.raced).rows for each in campaigns], how="vertical_relaxed")
    for each in campaigns:
        sampled = each.results.join(results.select(POINT), on=POINT, how="anti", maintain_order="left")
        results = pl.concat([results, sampled], how="vertical_relaxed")
    twice = results.select(*MACHINE_CELL, "launch").is_duplicated()
    if twice.any():
        name, size = results.filter(twice).select("collective", "message_bytes").row(0)
        raise UserError(f"two of the campaigns measured {name} at {size} B", "name only one of them")
    return replace(
        first,
        results=results,
        proofs=[proof for each in campaigns for proof in each.proofs],
        planned=first.planned.union(*(each.planned for each in others)),
    )
