"""Merge campaigns of several machines or days into one folder that records where each launch came from."""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from timpani.campaign.folder.bundle import recorded_files
from timpani.campaign.folder.header import Header, keep_header, new_identity
from timpani.campaign.folder.load import believed_records
from timpani.campaign.folder.records import ENDINGS, LAUNCHES, PROOFS, RESULTS, Records
from timpani.campaign.folder.sealed import seal
from timpani.campaign.folder.store import check_empty
from timpani.campaign.share.mergeable import MergeSource, merge_notes
from timpani.errors import UserError, cannot_write
from timpani.study.schema import CELL
from timpani.study.words import counted

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
