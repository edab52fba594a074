"""The records of a campaign folder as they are read, what of them can't be trusted, and how they are made whole.

What can't be trusted is set aside, never deleted.
"""

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from timpani.campaign.folder.fields import JOB, LAUNCH, PROOF, FieldError, check, is_part
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.launch_result import RESULT
from timpani.campaign.folder.raw_record import PACKED
from timpani.campaign.folder.sealed import SealedLine, read_lines, seal
from timpani.errors import UserError
from timpani.study.schema import CELL, MACHINE_CELL
from timpani.study.words import counted
from timpani.version import __version__

RESULTS, LAUNCHES, ENDINGS, PROOFS = "results.jsonl", "launches.jsonl", "endings.jsonl", "proofs.jsonl"
JOBS = "jobs.jsonl"

_FIELDS: dict[str, TypeAdapter[Any]] = {
    ENDINGS: LAUNCH,
    PROOFS: PROOF,
    RESULTS: RESULT,
    LAUNCHES: LAUNCH,
    JOBS: JOB,
}
"""The files, in an order in which each has what those before it name, even while a run writes them."""

_IDENTITY: dict[str, Callable[[Mapping[str, Any]], Hashable]] = {
    RESULTS: itemgetter(*MACHINE_CELL, "launch"),
    LAUNCHES: itemgetter("part"),
    ENDINGS: itemgetter("part"),
    PROOFS: itemgetter(*CELL),
    JOBS: itemgetter("machine", "job"),
}
"""What a line alone is about: a second one about it was copied."""


@dataclass(frozen=True)
class Refused:
    """A line that can't be trusted."""

    path: Path
    line: SealedLine
    why: str

    def __str__(self) -> str:
        return f"{self.path} line {self.line.number} can't be trusted: {self.why}"


@dataclass
class Records:
    """The lines of a campaign that can be believed, by file, and those that can't.

    moved     the first line of a file that stands elsewhere than it was written
    lost      starts of the MPI program that gave results or proofs which are not there, and how many of them are not
    startless parts of starts that results, proofs or endings came from, and launches.jsonl doesn't have
    endless   parts of starts whose raw samples are packed, as they are after the ending is recorded, which is not there
    jobless   machines and jobs that results name, and jobs.jsonl doesn't have
    missing   how many results of an import are not there
    """

    believed: dict[str, list[SealedLine]] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    moved: list[tuple[Path, SealedLine]] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    startless: list[str] = field(default_factory=list)
    endless: list[str] = field(default_factory=list)
    jobless: list[tuple[str, str]] = field(default_factory=list)
    missing: int = 0

    def values(self, name: str) -> list[dict[str, Any]]:
        """What the lines of a file say."""
        return [line.values for line in self.believed[name]]

    @property
    def launches(self) -> list[dict[str, Any]]:
        """Each start of the MPI program, with how it ended as far as that was recorded."""
        endings = {line["part"]: line for line in self.values(ENDINGS)}
        return [{**line, **endings.get(line["part"], {})} for line in self.values(LAUNCHES)]

    def problems(self, folder: Path) -> Iterator[str]:
        """What is wrong with the folder, in words."""
        yield from map(str, self.refused)
        for path, line in self.moved:
            yield f"{path} line {line.number} was line {line.written}: lines before it were lost, added or moved"
        for part, count in self.lost.items():
            yield f"{folder} lacks {count} of the results that its start {part} gave"
        if self.missing and not self.refused:
            yield f"{folder / RESULTS} lacks {self.missing} of the results that were imported"
        for part in self.startless:
            yield f"{folder / LAUNCHES} lacks the start {part}, which others of its files name"
        for part in self.endless:
            yield f"{folder / ENDINGS} lacks the ending of the start {part}"
        for _, job in self.jobless:
            yield f"{folder / JOBS} lacks the job {job}, which results name"


def read_records(folder: Path, header: Header) -> Records:
    """All records of the campaign in `folder`; UserError where a file can't be read at all."""
    records = Records()
    packed = {path.parent.name for path in folder.glob(f"launches/*/{PACKED}")}  # before their endings are read
    for name in _FIELDS:
        _read(folder / name, name, header, records)
    given = Counter(line["part"] for name in (RESULTS, PROOFS) for line in records.values(name) if _of_samples(line))
    endings = {line["part"]: line for line in records.values(ENDINGS)}
    records.lost = Counter({part: line["results"] for part, line in endings.items() if "results" in line}) - given
    records.missing = max(0, (header.results or 0) - len(records.believed[RESULTS]))
    started = {line["part"] for line in records.values(LAUNCHES)}
    named = {line["part"] for name in (RESULTS, PROOFS, ENDINGS) for line in records.values(name) if line.get("part")}
    records.startless = sorted(named - started)
    jobs = {(line["machine"], line["job"]) for line in records.values(JOBS)}
    records.jobless = sorted({(line["machine"], line["job"]) for line in records.values(RESULTS) if line["job"]} - jobs)
    parts = [line["part"] for line in records.values(LAUNCHES)]
    records.endless = [part for part in parts if part in packed and part not in endings]
    return records


def _of_samples(line: Mapping[str, Any]) -> bool:
    """Whether a result or proof came from a line that a launch wrote."""
    return bool(line.get("part")) and (line.get("samples") is not None or "messages" in line)


def _writer(version: str) -> str:
    """Which Timpani reads what one of `version` wrote and this one refuses."""
    if version == __version__:
        return f"use the Timpani that wrote it: it calls itself {version} like this one, but is another build"
    return f"use the Timpani that wrote it: {version}"


def _read(path: Path, name: str, header: Header, records: Records) -> None:
    believed = records.believed[name] = []
    seen: dict[Hashable, int] = {}
    for line in read_lines(path, header.sealed_for(name)):
        why = line.damage
        try:
            values = check(_FIELDS[name], line.values) if why is None else {}
            if why is None:
                first = seen.setdefault(_IDENTITY[name](values), line.number)
                why = f"it repeats line {first}" if first != line.number else None
        except FieldError as error:
            said = f"{path} line {line.number} is as it was written, and this Timpani can't read it: {error}"
            raise UserError(said, _writer(header.timpani)) from None
        except KeyError as error:
            why = f"it has no {error}"
        if why is not None:
            records.refused.append(Refused(path, line, why))
            continue
        believed.append(line._replace(values=values))
    records.moved += [(path, line) for line in believed if line.number != line.written][:1]


def repair(folder: Path, header: Header) -> tuple[Records, dict[str, dict[str, Any]], list[str]]:
    """Take out of the files in `folder` what can't be trusted.

    Returns the records that remain; the endings of starts whose results were lost, to be recorded again with what
    their raw samples still give; and what was done, in words.
    """
    records = read_records(folder, header)
    said = list(_set_aside_refused(folder, header, records))
    reopened = {line["part"]: line for line in records.values(ENDINGS) if line["part"] in records.lost}
    if reopened:
        kept = [line for line in records.believed[ENDINGS] if line.values["part"] not in reopened]
        _rewrite(folder / ENDINGS, kept, header)
        said += [f"results of the start {part} are lost: they are taken from its raw samples" for part in reopened]
    said += [f"the ending of the start {part} is lost: how it ended is unknown" for part in records.endless]
    started = {line.get("part") for line in records.values(LAUNCHES)}
    unnamed = {path.parent.name for path in (folder / "launches").glob("*/samples.jsonl")} - started
    if startless := sorted({*records.startless, *filter(is_part, unnamed)}):
        launches = records.believed[LAUNCHES]
        lost = [_start_of(part) for part in startless]
        _rewrite(folder / LAUNCHES, [*launches, *lost], header)
        said.append(f"{folder / LAUNCHES} lacked {', '.join(startless)}: how they were started is unknown")
    if records.jobless:
        lost = [SealedLine(0, b"", _job_of(*each, header), written=0) for each in records.jobless]
        _rewrite(folder / JOBS, [*records.believed[JOBS], *lost], header)
        said.append(f"{folder / JOBS} lacked {counted(len(lost), 'job')}: nodes and times are unknown")
    return (read_records(folder, header) if said else records), reopened, said


def _job_of(machine: str, job: str, header: Header) -> dict[str, Any]:
    """A job of which only its results are left."""
    known = {"job": job, "machine": machine, "started": header.created}
    return {**known, "system": "", "name": "", "nodes": [], "switches": []}


def _start_of(part: str) -> SealedLine:
    name = part.partition("-")[0]
    values = {"part": part, "launch": int(name) if name.isdigit() else None}
    return SealedLine(0, b"", values, written=0)


def _set_aside_refused(folder: Path, header: Header, records: Records) -> Iterator[str]:
    for name, believed in records.believed.items():
        refused = [each for each in records.refused if each.path.name == name]
        moved = [path for path, _ in records.moved if path.name == name]
        if refused:
            aside = _free(folder / "launches" / f"{name}.refused")
            aside.parent.mkdir(exist_ok=True)
            aside.write_bytes(b"".join(each.line.raw for each in refused))
        if refused or moved:
            _rewrite(folder / name, believed, header)
        yield from (f"{each}; it was set aside in {aside}" for each in refused)
        yield from (f"{path}: lines had been lost, added or moved" for path in moved)


def _free(path: Path) -> Path:
    numbered = (path.with_name(f"{path.name}-{number}") for number in range(1, 1_000_000))
    return next(candidate for candidate in numbered if not candidate.exists())


def _rewrite(path: Path, lines: list[SealedLine], header: Header) -> None:
    """Write a new file and rename it to `path`; lines with an unchanged number keep their bytes."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        for number, line in enumerate(lines, start=1):
            same = line.raw and number == line.written
            file.write(line.raw if same else seal(line.values, number, header.sealed_for(path.name)))
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)
