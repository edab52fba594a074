"""Which campaigns can be one: of one library and one protocol, each machine under one name, no launch twice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Self

import polars as pl

from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.read.differing_conditions import differences
from timpani.errors import UserError
from timpani.libraries.registry import library_title
from timpani.study.keys import KEYS
from timpani.study.schema import MACHINE_CELL

_MAY_DIFFER = frozenset(
    {
        *("title", "question", "collectives", "ranks", "sizes", "placement", "pairs", "figures", "files"),
        *("launches", "budget", "seed", "slot", "rules", "tuned", "variants"),
    }
)
"""Keys of a study that say what was measured and how long. Texts of files and variants are compared elsewhere."""

_MACHINE = ("cpu", "cores", "sockets", "numa", "smt", "launcher", "groups", "platform", "link", "uplink")
"""Recorded values that differ only if two machines have one name."""

_EXPECTED = frozenset({"ranks", "placement", "sizes", "launches", "seed", "title", "slot", "budget", "pairs"})
"""Differences that merging is for."""


@dataclass(frozen=True)
class MergeSource:
    """A campaign to merge; `machine` renames its machine, None: as recorded."""

    campaign: Campaign
    machine: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `DIR` or `MACHINE=DIR`."""
        name, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            return cls(load(Path(text)))
        if not name or not name.isprintable():
            raise UserError(f"{text!r} names no machine", "write MACHINE=DIR")
        source = cls(load(Path(path)), name)
        if len(source.campaign.header.machine_names) > 1:
            raise UserError(f"{path} is of several machines", "give it without a name")
        return source

    @property
    def names(self) -> frozenset[str]:
        """The machines of its results in the merged campaign."""
        if self.machine is not None:
            return frozenset({self.machine})
        return frozenset(self.campaign.results["machine"].unique())

    @property
    def results(self) -> pl.DataFrame:
        """Its results with the machine's new name."""
        return self.campaign.results.with_columns(
            machine=pl.col("machine") if self.machine is None else pl.lit(self.machine)
        )


def merge_notes(sources: Sequence[MergeSource]) -> list[str]:
    """The conditions in which launches on one machine differ, a sentence each.

    UserError where two campaigns can't be merged: they hold the same launches, differ in library or protocol, or one
    name stands for two machines.
    """
    notes: list[str] = []
    for one, other in combinations(sources, 2):
        _check_other_launches(one, other)
        _check_protocol(one, other)
        if shared := one.names & other.names:
            notes += _notes_of_machine(one, other, min(shared))
    return list(dict.fromkeys(notes))


def _check_other_launches(one: MergeSource, other: MergeSource) -> None:
    ids = [{each.header.id, *(merged.id for merged in each.header.merged)} for each in (one.campaign, other.campaign)]
    samples = [set(each.campaign.results["samples"].drop_nulls()) for each in (one, other)]
    if ids[0] & ids[1] or samples[0] & samples[1]:
        what = f"{other.campaign.folder} holds launches of {one.campaign.folder}"
        raise UserError(what, "name each once: a copy is no second run")


def _check_protocol(one: MergeSource, other: MergeSource) -> None:
    first, second = one.campaign.header, other.campaign.header
    studies = first.recorded.get("study", {}), second.recorded.get("study", {})
    differing = [
        (f"{key} of the study", *(study.get(key) for study in studies))
        for key in KEYS
        if key not in _MAY_DIFFER and studies[0].get(key) != studies[1].get(key)
    ]
    variants = [{name: each.settings for name, each in (header.variants or {}).items()} for header in (first, second)]
    compared = [
        ("MPI library", *(library_title(each.mpi.kind, "") for each in (first, second))),
        ("simulation", one.campaign.simulated, other.campaign.simulated),
        ("text of the rules", first.rules, second.rules),
        ("texts of the tuning files", first.tuned, second.tuned),
        ("texts of the algorithms", first.algorithms, second.algorithms),
        ("variants", *variants),
    ]
    for what, before, after in [*differing, *((name, a, b) for name, a, b in compared if a != b)]:
        raise UserError(
            f"{what} differs: {before!r} in {one.campaign.folder}, {after!r} in {other.campaign.folder}",
            "compare these campaigns instead: timpani compare",
        )


def _notes_of_machine(one: MergeSource, other: MergeSource, name: str) -> Iterator[str]:
    """What differs between campaigns on one machine and forbids nothing; UserError for what does."""
    before, after = one.campaign.by_machine(), other.campaign.by_machine()
    first = before[name if name in before else next(iter(before))]
    second = after[name if name in after else next(iter(after))]
    where = f"{first.folder} and {second.folder} both measured on {name}"
    recorded = [each.header.recorded.get("machine", {}) for each in (first, second)]
    for key in _MACHINE:
        if recorded[0].get(key) != recorded[1].get(key):
            step = f"name the machines: ONE={first.folder} OTHER={second.folder}"
            raise UserError(f"{where}, but its {key} differs", step)
    found = differences(first, second)
    for each in found:
        if each.what in ("MPI library", "settings that decide the default"):
            what = f"{where}, with {each.what} {each.before} and {each.after}"
            raise UserError(what, "compare them: timpani compare")
    if any(each.header.study.regret is not None for each in (first, second)):
        _check_no_common_cell(one, other)
    for each in found:
        if each.what not in _EXPECTED:
            yield f"{where}: {each.what} {each.before} in the first, {each.after} in the second"


def _check_no_common_cell(one: MergeSource, other: MergeSource) -> None:
    """UserError where both measured a cell: the bounds of a race hold for its launches alone."""
    common = one.results.join(other.results, on=MACHINE_CELL, how="semi")
    if not common.is_empty():
        collective, size = common.select("collective", "message_bytes").row(0)
        raise UserError(
            f"{other.campaign.folder} measured {collective} at {size} B as {one.campaign.folder} did, and a race ends "
            "once",
            "merge campaigns without --regret, or of different cells",
        )
