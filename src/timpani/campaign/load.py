"""Read a campaign folder."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.header import Header, read_header
from timpani.campaign.record import FORMER_NAMES, RESULT_SCHEMA, LaunchResult
from timpani.errors import UserError
from timpani.study.schema import CELL, MACHINE_CELL


@dataclass(frozen=True)
class Campaign:
    """What a campaign folder holds.

    header    campaign.json
    results   one row per cell and launch, columns `RESULT_SCHEMA`
    launches  launches.jsonl: per start of the MPI program its command, seconds, ranks' hosts and cores, clock error
    proofs    proofs.jsonl: per cell the messages and bytes of each pair of ranks
    """

    folder: Path
    header: Header
    results: pl.DataFrame
    launches: list[dict[str, Any]]
    proofs: list[dict[str, Any]]

    @property
    def launch_seconds(self) -> float | None:
        """What one launch of all cells took on average, starts included; None where nothing tells, as of an import."""
        told = {launch["launch"] for launch in self.launches if launch.get("launch")}
        spent = sum(launch.get("seconds") or 0.0 for launch in self.launches if launch.get("launch"))
        return spent / len(told) if told else None


def load(folder: Path) -> Campaign:
    """Read `folder`; UserError when it is no campaign, holds a torn or foreign line, or no result yet."""
    header = read_header(folder)
    lines = read_results(folder)
    if not lines:
        raise UserError(f"{folder} holds no result yet", "the same `timpani run` command measures it")
    return Campaign(
        folder=folder,
        header=header,
        results=frame(lines, folder / "results.jsonl"),
        launches=[line for _, line in read_lines(folder / "launches.jsonl")],
        proofs=read_proofs(folder),
    )


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON-lines file with their line numbers; nothing where there is no file."""
    try:
        raws = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{path} can't be read ({error.strerror})", "ask its owner for a copy") from None
    for number, raw in enumerate(raws, start=1):
        if not raw.endswith(b"\n"):
            raise UserError(
                f"{path} line {number} is torn",
                "the same `timpani run` command sets it aside, keeps the rest and goes on",
            )
        try:
            line = json.loads(raw)
        except ValueError:
            line = None
        if not isinstance(line, dict):
            raise UserError(f"{path} line {number} is not Timpani's", "remove that line")
        yield number, line


def read_results(folder: Path) -> list[dict[str, Any]]:
    """results.jsonl of `folder`, its fields by the names that they have now."""
    lines = (line for _, line in read_lines(folder / "results.jsonl"))
    return [{FORMER_NAMES.get(name, name): value for name, value in line.items()} for line in lines]


def read_proofs(folder: Path) -> list[dict[str, Any]]:
    """proofs.jsonl of `folder`."""
    path = folder / "proofs.jsonl"
    proofs = []
    for number, line in read_lines(path):
        if line.keys() != {*CELL, "messages", "bytes"} or None in line.values():
            raise UserError(f"{path} line {number} is no proof of Timpani's", "remove that line")
        proofs.append(line)
    return proofs


def frame(lines: list[dict[str, Any]], path: Path) -> pl.DataFrame:
    """Results as a frame; `path` is where an error says they came from."""
    for number, line in enumerate(lines, start=1):
        missing = [name for name in (*MACHINE_CELL, "launch") if line.get(name) is None]
        if missing or line.keys() - RESULT_SCHEMA.keys():
            raise UserError(f"{path} line {number} is no result of Timpani's", "remove that line")
    try:
        return pl.DataFrame(lines, schema=RESULT_SCHEMA, orient="row")
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        why = str(error).partition("\n")[0]
        raise UserError(f"{path} holds values of a wrong kind ({why})", "restore it from a copy") from None


def results_frame(results: list[LaunchResult]) -> pl.DataFrame:
    """The frame of results that are in memory."""
    return pl.DataFrame([result.as_line() for result in results], schema=RESULT_SCHEMA, orient="row")
