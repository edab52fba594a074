"""Merge campaigns of several machines or days into one folder that records where each launch came from.

Campaigns can be merged that are of one library and one protocol, with each machine under one name and no launch twice.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any, Self

import polars as pl

from timpani.campaign.folder.bundle import recorded_files
from timpani.campaign.folder.header import Header, keep_header, new_identity
from timpani.campaign.folder.load import Campaign, believed_records, load
from timpani.campaign.folder.records import ENDINGS, JOBS, LAUNCHES, PROOFS, RESULTS, Records
from timpani.campaign.folder.sealed import seal
from timpani.campaign.folder.store import check_empty
from timpani.campaign.read.differing_conditions import differences
from timpani.errors import UserError, cannot_write
from timpani.libraries.registry import library_title
from timpani.study.keys import KEYS
from timpani.study.schema import CELL, MACHINE_CELL
from timpani.study.words import counted

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


_PROOF = "proof"


@dataclass(frozen=True)
class _Shift:
    """What is added to the numbers of a campaign's launches, and to those of its starts that counted messages."""

    launches: int
    proofs: int

    def part(self, part: str) -> str:
        """The new name of a start, `0001-1` or `proof-1`."""
        name, _, attempt = part.partition("-")
        if name == _PROOF:
            return f"{_PROOF}-{int(attempt) + self.proofs}"
        return f"{int(name) + self.launches:04d}-{attempt}"

    def line(self, line: Mapping[str, Any], machine: str | None) -> dict[str, Any]:
        """A line of a record with new numbers and the machine's new name."""
        values = dict(line)
        if values.get("launch") is not None:
            values["launch"] += self.launches
        if values.get("part"):
            values["part"] = self.part(values["part"])
        if values.get("interleaving"):
            part, _, begin = values["interleaving"].partition("/")
            values["interleaving"] = f"{self.part(part)}/{begin}"
        if machine is not None and "machine" in values:
            values["machine"] = machine
        return values


def merge(sources: Sequence[MergeSource], folder: Path, command: str) -> list[str]:
    """Write the campaigns as one into `folder`, which is new or empty: whole, or not at all.

    Launches get new numbers. Returns notes on conditions that differ on one machine, and on proofs that are left out.
    UserError where the campaigns can't be merged.
    """
    if len(sources) < 2:
        raise UserError("one campaign has nothing to merge with", "name two or more")
    check_empty(folder)
    notes = merge_notes(sources)
    target = folder.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.mkdir()
        notes += _write(sources, unfinished, command)
        if target.exists():
            shutil.rmtree(target)  # it holds at most what an import left
        unfinished.rename(target)
    except OSError as error:
        raise cannot_write(folder, error) from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return notes


def _write(sources: Sequence[MergeSource], into: Path, command: str) -> list[str]:
    records = [believed_records(each.campaign.folder, each.campaign.header) for each in sources]
    shifts = list(_shifts(records))
    header = _header(sources, records, shifts, command)
    keep_header(into, header)
    kept, left_out, notes = _proofs(sources, records, shifts)
    lines: dict[str, list[dict[str, Any]]] = {PROOFS: kept}
    for name in (RESULTS, LAUNCHES, ENDINGS):
        lines[name] = [
            shift.line(line, source.machine)
            for source, found, shift in zip(sources, records, shifts, strict=True)
            for line in found.values(name)
        ]
    lines[JOBS] = _jobs(sources, records)
    for ending in lines[ENDINGS]:
        if gave := left_out[ending["part"]]:
            ending["results"] -= gave
    for name, values in lines.items():
        if values:
            with (into / name).open("wb") as file:
                sealed_for = header.sealed_for(name)
                file.writelines(seal(line, number, sealed_for) for number, line in enumerate(values, start=1))
    for source, shift in zip(sources, shifts, strict=True):
        for name, path in recorded_files(source.campaign.folder).items():
            top, _, rest = name.partition("/")
            if rest:
                part, _, file_name = rest.partition("/")
                copy = into / top / shift.part(part) / file_name
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, copy)
    return notes


def _jobs(sources: Sequence[MergeSource], records: Sequence[Records]) -> list[dict[str, Any]]:
    """Each job once: two campaigns of one batch job share it."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for source, each in zip(sources, records, strict=True):
        for line in each.values(JOBS):
            machine = source.machine or line["machine"]
            found.setdefault((machine, line["job"]), {**line, "machine": machine})
    return list(found.values())


def _shifts(records: Iterable[Records]) -> Iterator[_Shift]:
    launches = proofs = 0
    for each in records:
        yield _Shift(launches, proofs)
        lines = [line for name in (RESULTS, LAUNCHES, PROOFS) for line in each.values(name)]
        launches += max((line.get("launch") or 0 for line in lines), default=0)
        parts = [line["part"] for line in lines if (line.get("part") or "").startswith(_PROOF)]
        proofs += max((int(part.partition("-")[2]) for part in parts), default=0)


def _proofs(
    sources: Sequence[MergeSource], records: Sequence[Records], shifts: Sequence[_Shift]
) -> tuple[list[dict[str, Any]], Counter[str], list[str]]:
    """The proofs, one for each cell; how many of each start are left out; and a note for each campaign with such."""
    kept: dict[tuple[Any, ...], dict[str, Any]] = {}
    left_out: Counter[str] = Counter()
    notes = []
    for source, each, shift in zip(sources, records, shifts, strict=True):
        found = {tuple(line.get(name) for name in CELL): shift.line(line, None) for line in each.values(PROOFS)}
        if twice := kept.keys() & found.keys():
            left_out.update(found[cell]["part"] for cell in twice if found[cell].get("part"))
            proofs = f"{counted(len(twice), 'proof')} of {source.campaign.folder}"
            notes.append(f"{proofs} left out: another campaign proves the same cell")
        kept = {**found, **kept}
    return list(kept.values()), left_out, notes


def _header(
    sources: Sequence[MergeSource], records: Sequence[Records], shifts: Sequence[_Shift], command: str
) -> Header:
    headers = [each.campaign.header for each in sources]
    first = headers[0]
    merged = [part for each in zip(sources, records, shifts, strict=True) for part in _parts(*each)]
    names = list(dict.fromkeys(each["machine"] for each in merged))
    versions = {each.mpi.version for each in headers}
    outside = [each for header in headers for each in header.recorded.get("outside") or ()]
    settings: dict[str, dict[str, str]] = {}
    for header in headers:
        for collective, known in (header.settings or {}).items():
            settings[collective] = {**known, **settings.get(collective, {})}
    values = {
        **first.recorded,
        **new_identity(),
        "study": _study([header.recorded.get("study", {}) for header in headers]),
        "machine": first.recorded["machine"] if len(names) == 1 else {"name": ", ".join(names)},
        "mpi": first.recorded["mpi"] if len(versions) == 1 else {**first.recorded["mpi"], "version": ""},
        "left_out": _union(header.left_out for header in headers),
        "commands": [command],
        "settings": settings or None,
        "outside": _union([outside]) or None,
        "planned": None,
        "results": sum(len(each.believed[RESULTS]) for each in records),
        "merged": merged,
    }
    return Header.check(values, "campaign.json")


def _parts(source: MergeSource, found: Records, shift: _Shift) -> Iterator[dict[str, Any]]:
    """The campaign, or those that it was merged from, as `MergedCampaign` in JSON."""
    header = source.campaign.header
    for each in header.merged:
        launches = [number + shift.launches for number in each.launches]
        yield {**each.model_dump(mode="json"), "machine": source.machine or each.machine, "launches": launches}
    if not header.merged:
        numbers = [line["launch"] for line in found.values(RESULTS)]
        yield {
            "id": header.id,
            "machine": source.machine or source.campaign.results["machine"][0],
            "launches": [min(numbers) + shift.launches, max(numbers) + shift.launches],
            "header": header.recorded,
        }


def _study(studies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One study of all: lists and texts joined, the most launches, no budget."""
    joined = dict(studies[0])
    for key in ("ranks", "sizes", "placement", "files"):
        if any(key in study for study in studies):
            joined[key] = _union(study.get(key) or () for study in studies)
    for key in ("title", "question"):
        joined[key] = " ".join(_union([[study[key]] for study in studies if study.get(key)]))
    for key in ("ranks", "sizes"):
        if key in joined:
            joined[key] = sorted(joined[key])
    collectives: dict[str, list[str]] = {}
    for study in studies:
        for name, algorithms in (study.get("collectives") or {}).items():
            collectives[name] = _union([collectives.get(name, []), algorithms])
    launches = [study["launches"] for study in studies if study.get("launches")]
    return {
        **joined,
        **({"collectives": collectives} if collectives else {}),
        **({"launches": max(launches)} if launches else {}),
        **({"budget": None} if "budget" in joined else {}),
    }


def _union(lists: Iterable[Iterable[Any]]) -> list[Any]:
    """Each value once, in order."""
    found: list[Any] = []
    for value in chain.from_iterable(lists):
        if value not in found:
            found.append(value)
    return found
