"""Published tables that come with the package: as a campaign, next to a fit, or compared with what was concluded."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Statistic
from timpani.campaign.folder.store import PROVIDER, check_empty, write_import
from timpani.campaign.read.doubts import Conditions, Doubt, doubts
from timpani.errors import UserError, unknown
from timpani.libraries.registry import counterpart
from timpani.machine.describe import MachineDescription
from timpani.studies.claim import Claim, claims_of, read_claims
from timpani.studies.sources import PUBLISHED
from timpani.studies.sources import sources as all_sources
from timpani.study.cell import DEFAULT, UNPLACED, Algorithm, Cell
from timpani.study.schema import schema
from timpani.study.sizes import show_size
from timpani.study.words import counted

COMPARISON = "comparison"
"""In place of what a table holds: any that a campaign can be compared with."""

_INSTEAD = {
    "fit": ("{} is somebody's fit, not measurements", "`timpani fit DIR --published {}` shows it next to one of yours"),
    "measurements": (
        "{} is measurements, not a fit",
        "`timpani import --published {} -o DIR` makes a campaign of it, to be fitted",
    ),
    "conclusions": ("{} is a study's conclusions, without a table", "`timpani compare DIR --published {}` checks them"),
}
"""By what a table holds: why it can't be used in another way, and how it can."""


@dataclass(frozen=True)
class Published:
    """A table of a public report, or the tables of one study together.

    holds       'measurements', averages of one run; 'fit', somebody's results of fitting; 'conclusions', and no table
    study       the shipped study that asks the same
    conditions  what its times are judged by
    nodes       that it was measured on; None for several, in an unknown number
    fitted      what a fit is of, its `collective` and `algorithm`, to print the matching fit of a campaign next to it
    rows        as printed, by the file's columns; what is missing there is empty
    files       the names of its files
    claims      what the study concluded
    """

    name: str
    title: str
    question: str
    machine: str
    cpu: str
    holds: str
    study: str
    provider: str
    version: str
    nodes: int | None
    conditions: Conditions
    fitted: Mapping[str, str]
    rows: tuple[dict[str, str], ...]
    files: tuple[str, ...]

    claims: tuple[Claim, ...] = ()

    @property
    def statistic(self) -> Statistic:
        """The statistic of a campaign with which conclusions are checked: OSU's, if the study published times."""
        return "osu" if self.holds == "measurements" else "completion"


def published_names(holds: str) -> list[str]:
    """The tables that hold measurements, or fits; for COMPARISON also what a study without measurements has."""
    sources = all_sources()
    timed = {source["study"] for source in sources.values() if source["holds"] == "measurements"}

    def wanted(source: Mapping[str, Any]) -> bool:
        if holds != COMPARISON:
            return bool(source["holds"] == holds)
        return source["holds"] == "measurements" or source["study"] not in timed

    return [name for name, source in sources.items() if wanted(source)]


def read_published(text: str, holds: str) -> Published:
    """The table of that name, or all tables of an author's study joined; the first letters are enough.

    Only tables that hold what is asked for count. UserError if no such table exists, or if tables of several studies
    begin with `text`. To compare with, `text` may be the path of a user's file of conclusions, `*.toml`.
    """
    if holds == COMPARISON and text.endswith(".toml"):
        return _own_conclusions(Path(text))
    sources = all_sources()
    names = published_names(holds)
    meant = _beginning(names, text)
    if not meant:
        for unusable in _beginning(sources, text):
            raise UserError(*(sentence.format(unusable) for sentence in _INSTEAD[sources[unusable]["holds"]]))
        raise UserError(f"unknown published table {text!r}", f"choose among {', '.join(names)}")
    if len({sources[name]["study"] for name in meant}) > 1:
        raise UserError(f"{text!r} begins {counted(len(meant), 'table')}: {', '.join(meant)}", "name one in full")
    return _joined(meant)


def _joined(names: Sequence[str]) -> Published:
    """Tables of one study as one."""
    first, *others = [_table(name, all_sources()[name]) for name in names]
    author = first.title.partition(":")[0]
    for other in others:
        first = replace(
            first,
            name=f"{first.name} + {other.name}",
            title=f"{first.title}; {other.title.removeprefix(f'{author}: ')}",
            rows=(*first.rows, *other.rows),
            files=(*first.files, *other.files),
        )
    return first


def _beginning(names: Iterable[str], text: str) -> list[str]:
    """The names that begin with `text`; the name itself, if it is one of them."""
    found = [name for name in names if name.startswith(text)]
    return [text] if text in found else found


def study_tables(study: str) -> list[Published]:
    """All tables that the study published, by the name of the shipped study that asks the same."""
    return [_table(name, source) for name, source in all_sources().items() if source["study"] == study]


def _table(name: str, source: dict[str, Any]) -> Published:
    rows: tuple[dict[str, str], ...] = ()
    if source["holds"] != "conclusions":
        with (PUBLISHED / f"{name}.csv").open(encoding="utf-8") as file:
            rows = tuple(csv.DictReader(file))
    return Published(
        name=name,
        provider=source.pop("provider", PROVIDER),
        version=source.pop("version", ""),
        nodes=source.pop("nodes", None),
        conditions=Conditions(**source.pop("conditions", {})),
        fitted=source.pop("fitted", {}),
        rows=rows,
        files=(f"{name}.csv, published",),
        claims=tuple(claims_of(source["study"])),
        **source,
    )


def study_of(study: str) -> Published | None:
    """All tables of the shipped study `study` together; None where nothing was published."""
    names = [name for name in published_names(COMPARISON) if all_sources()[name]["study"] == study]
    return _joined(names) if names else None


def _own_conclusions(path: Path) -> Published:
    """A user's conclusions: of the shipped study that the file names, on its tables, or of no study."""
    claims = tuple(read_claims(path))
    if study := claims[0].study:
        table = study_of(study)
        if not table:
            raise unknown(f"study in {path}", study, {each["study"] for each in all_sources().values()}, "list studies")
        return replace(table, claims=claims)
    return Published(
        *(str(path), str(path), "", "", "", "conclusions", "", PROVIDER, "", None, Conditions(), {}, (), ()), claims
    )


def is_import_of(header: Header, table: Published) -> bool:
    """Whether a campaign with this header has imported times of `table`: then they were not measured anew."""
    return not set(header.study.files).isdisjoint(table.files)


def import_published(name: str, folder: Path, command: str) -> tuple[int, list[Doubt]]:
    """Make the campaign `folder` of the measurements `name`, a table or an author.

    Returns its number of results, and what is doubtful in the table.
    """
    table = read_published(name, "measurements")
    check_empty(folder)
    results: list[LaunchResult] = []
    collectives: dict[str, dict[str, None]] = {}
    for collective, named, ranks, size, time in _timed_rows(table):
        name = DEFAULT if named.name == DEFAULT else str(named)  # as the report names it
        collectives.setdefault(collective, {})[name] = None
        algorithm = counterpart(collective, named, table.provider)  # by its canonical name
        if time is not None:
            cell = Cell(collective, algorithm, ranks, UNPLACED, size, "warm")
            results.append(LaunchResult(cell=cell, launch=1, machine=table.machine, osu_avg_us=time))
    empty = len(table.rows) - len(results)
    header = Header.new(
        study={
            "title": table.title,
            "question": table.question,
            "files": list(table.files),
            "datatype": "uint8",
            "collectives": {name: list(names) for name, names in collectives.items()},
        },
        machine=MachineDescription(name=table.machine, cpu=table.cpu),
        mpi=RecordedMpi(kind=table.provider, version=table.version),
        command=command,
        results=len(results),
        left_out=[f"empty cells of the published table: {empty}"] if empty else [],
    )
    write_import(folder, header, results)
    return len(results), published_doubts(table)


def printed_time(row: dict[str, str]) -> tuple[str, float | None]:
    """The timed operation, and microseconds per call; for a bandwidth, per message."""
    if "bandwidth_mb_per_s" in row:
        return "bandwidth", int(row["message_bytes"]) / float(row["bandwidth_mb_per_s"])
    if "latency_us" in row:
        return "latency", float(row["latency_us"])
    printed = row["osu_avg_latency_us"]
    return row["collective"], float(printed) if printed else None


TIMES = {**schema("collective", "label", "ranks", "message_bytes"), "published_us": pl.Float64()}


def published_times(table: Published, kind: str) -> pl.DataFrame:
    """A row per printed time: collective, label, ranks, message_bytes, published_us; empty cells have none, nor has a
    table of anything but measurements.

    Labels are those of a campaign with the library `kind`.
    """
    rows = [
        (collective, counterpart(collective, named, kind).label, ranks, size, time)
        for collective, named, ranks, size, time in _timed_rows(table)
        if time is not None
    ]
    return pl.DataFrame(rows, schema=TIMES, orient="row")


def study_times(study: str) -> pl.DataFrame:
    """All that a study published: its times, and its fitted costs of a message; columns as `published_times` has them,
    and `machine`.

    The costs are T_s in µs and T_c in µs a byte, as the collectives `T_s` and `T_c` on 2 ranks at 0 B. Their label says
    where the two ranks sat, or which benchmark measured them.
    """
    tables = study_tables(study)
    none = pl.DataFrame(schema={**TIMES, "machine": pl.String()})
    parts = (
        part.with_columns(pl.lit(table.machine).alias("machine"))
        for table in tables
        for part in (published_times(table, table.provider), _fitted_costs(table))
    )
    return pl.concat([none, *parts])


def _fitted_costs(table: Published) -> pl.DataFrame:
    rows = [
        {
            "collective": cost,
            "label": "osu" if row["placement"].startswith("osu") else row["placement"],
            "ranks": 2,
            "message_bytes": 0,
            "published_us": value,
        }
        for row in (table.rows if table.holds == "fit" and "throughput_mb_per_s" in table.rows[0] else ())
        for cost, value in (("T_s", float(row["latency_us"])), ("T_c", 1 / float(row["throughput_mb_per_s"])))
    ]
    return pl.DataFrame(rows, schema=TIMES)


def published_doubts(table: Published) -> list[Doubt]:
    """Impossible and missing times of a table, with the algorithm names of the table's library."""
    times = published_times(table, table.provider)
    empty = [
        f"{collective} {counterpart(collective, named, table.provider).label} on {counted(ranks, 'rank')}, "
        f"{show_size(size)} is empty"
        for collective, named, ranks, size, time in _timed_rows(table)
        if time is None
    ]
    found = doubts(times.rename({"published_us": "time_us"}), table.conditions)
    return [*found, *(Doubt("empty", text, 1) for text in empty)]


def _timed_rows(table: Published) -> Iterator[tuple[str, Algorithm, int, int, float | None]]:
    """What was timed on how many ranks at which size, and the time; None in an empty cell."""
    for row in table.rows if table.holds == "measurements" else ():
        collective, time = printed_time(row)
        named = Algorithm(table.provider, row.get("algorithm", DEFAULT))
        yield collective, named, int(row.get("ranks", 2)), int(row["message_bytes"]), time


def doubts_of_import(header: Header) -> list[Doubt]:
    """The doubts about the tables that a campaign with this header was imported from; none about other campaigns."""
    tables = (read_published(name, "measurements") for name in published_names("measurements"))
    return [doubt for table in tables if is_import_of(header, table) for doubt in published_doubts(table)]
