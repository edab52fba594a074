"""Make a campaign's records whole again: what can't be trusted is set aside, never deleted."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from timpani.campaign.folder.fields import is_part
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.records import ENDINGS, LAUNCHES, Records, read_records
from timpani.campaign.folder.sealed import SealedLine, seal


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
    return (read_records(folder, header) if said else records), reopened, said


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
