"""Made-up campaigns whose answers are known: cells × launches × times become results, a campaign, or its folder.

times = cells({"default": {8: 10.0}, "ring": {8: 5.0}}, ranks=4)
made_up(results_of(times))                                    # in memory
write_campaign(tmp_path / "c", results_of(times), study={"title": "A ring"})
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from timpani.campaign.folder.header import FORMAT, VERSION, Header
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, frame
from timpani.campaign.folder.sealed import checksum, seal_object
from timpani.judge.raced import RacedResults
from timpani.study.cell import TOGETHER, VARIANT_SIGN, Algorithm, Cell
from timpani.study.schema import ALLOWED, REGRET

RESULT_DEFAULTS = {each.name: each.default for each in fields(LaunchResult) if each.default is not MISSING}

NOISE = (0.99, 0.995, 1.0, 1.005, 1.01, 0.992, 1.008, 1.002)
"""Factors of a cell's time in eight launches: within 1 %, all different."""

MPI = {"kind": "openmpi", "version": "4.1.4", "mpirun": "/usr/bin/mpirun"}

T = TypeVar("T")


def cell(
    algorithm: str = "default",
    size: int = 8,
    *,
    collective: str = "bcast",
    ranks: int = 2,
    placement: str = "core",
    mode: str = "warm",
    arrival: str = TOGETHER,
) -> Cell:
    """The cell of `[provider/]name[:parameter=integer,…][@variant]`; Open MPI's where no provider is named."""
    text, _, variant = algorithm.partition(VARIANT_SIGN)
    named = Algorithm.parse(text if "/" in text else f"openmpi/{text}")
    if variant:
        named = replace(named, variant=variant)
    return Cell(collective, named, ranks, placement, size, mode, arrival)


def cells(times: Mapping[str, Mapping[int, T]], **about: Any) -> dict[Cell, T]:
    """By cell what is given by algorithm and size; `about` are keywords of `cell`."""
    return {cell(name, size, **about): time for name, sizes in times.items() for size, time in sizes.items()}


def results_of(
    times: Mapping[Cell, float | Sequence[float | None]],
    noise: Sequence[float] = NOISE,
    *,
    machine: str = "here",
    interleaved: bool = False,
    **values: Any,
) -> list[LaunchResult]:
    """Results from times in µs: of a number one for each launch in `noise`, of a sequence one for each, None a failure.

    interleaved  each launch interleaves the cells of a point, as a race does
    values       more fields of each result
    """
    found: list[LaunchResult] = []
    points: dict[tuple[object, ...], int] = {}
    for each, given in times.items():
        number = points.setdefault((each.collective, each.ranks, each.placement, each.message_bytes), len(points))
        launches = [given * factor for factor in noise] if isinstance(given, float | int) else given
        for launch, time in enumerate(launches, 1):
            if time is None:
                found.append(LaunchResult(each, launch, machine, **{"error": "rank 0 died", **values}))
                continue
            race = {"interleaving": f"{launch:04d}-1/{number}", "relative": time} if interleaved else {}
            usual = {"median_us": time, "osu_avg_us": time, "repetitions": 100}
            found.append(LaunchResult(each, launch, machine, **{**usual, **race, **values}))
    return found


def results_frame(
    results: Iterable[LaunchResult], regret: float | None = None, launches: int | None = None
) -> pl.DataFrame:
    """The results as a campaign has them that is read from its folder.

    regret    accepted by the race that measured them
    launches  allowed to the race
    """
    rows = frame([result.as_line() for result in results])
    return rows if regret is None else _with_race(rows, regret, launches)


def _with_race(rows: pl.DataFrame, regret: float | None, launches: int | None) -> pl.DataFrame:
    race = {REGRET: pl.lit(regret, dtype=pl.Float64), ALLOWED: pl.lit(launches, dtype=pl.Int64)}
    return rows.with_columns(**race)


def raced(results: Iterable[LaunchResult], regret: float | None = None, launches: int | None = None) -> RacedResults:
    """The results with their race, as `results_frame` has them."""
    return RacedResults.from_rows(results_frame(results, regret, launches))


def start(launch: int = 1, hosts: Sequence[str] = ("here", "here"), placement: str = "core", **values: Any) -> Any:
    """A line of launches.jsonl: each rank on a separate core of its host."""
    ranks = [{"rank": rank, "host": host, "cores": [rank]} for rank, host in enumerate(hosts)]
    return {"launch": launch, "part": f"{launch:04d}-1", "placement": placement, "ranks": ranks, **values}


def machine(nodes: int, cores: int = 4, name: str = "m") -> dict[str, Any]:
    """A machine in campaign.json: one group of nodes n1, n2, …, all of them used."""
    names = [f"n{number}" for number in range(1, nodes + 1)]
    groups = [{"name": "g", "nodes": names, "cores": cores}]
    hosts = [{"name": each, "slots": cores} for each in names]
    return {"name": name, "launcher": "openmpi", "groups": groups, "hosts": hosts}


def variants(settings: Mapping[str, str], **recorded: Any) -> dict[str, Any]:
    """The variants in campaign.json by their settings, next to the default."""
    return {name: {"settings": text, "mpi": MPI, **recorded} for name, text in {"default": "", **settings}.items()}


def header_values(results: Sequence[LaunchResult], **parts: Any) -> dict[str, Any]:
    """campaign.json of such results; `parts` come before what the results show."""
    measured: dict[str, dict[str, None]] = {}
    for each in results:
        measured.setdefault(each.cell.collective, {})[each.cell.algorithm.plain] = None
    study = {
        "collectives": {name: list(algorithms) for name, algorithms in measured.items()},
        "ranks": sorted({each.cell.ranks for each in results}),
        "sizes": sorted({each.cell.message_bytes for each in results}),
        "launches": max((each.launch for each in results), default=1),
    }
    names = {"machine": {"name": results[0].machine}} if results else {}
    return {"mpi": MPI, **names, **parts, "study": {**study, **parts.get("study", {})}}


def made_up(
    results: Sequence[LaunchResult],
    launches: Iterable[Mapping[str, Any]] = (),
    proofs: Iterable[Mapping[str, Any]] = (),
    folder: Path = Path("made"),
    **parts: Any,
) -> Campaign:
    """A campaign in memory; `parts` of its header."""
    header = Header.check({"id": str(folder), **header_values(results, **parts)}, "test")
    study = header.study
    allowed = study.launches if study.regret is not None and study.budget is None else None
    rows = _with_race(results_frame(results), study.regret, allowed)
    return Campaign(folder, header, rows, [dict(each) for each in launches], [dict(each) for each in proofs])


def write_campaign(
    folder: Path,
    results: Sequence[LaunchResult],
    launches: Iterable[Mapping[str, Any]] = (),
    proofs: Iterable[Mapping[str, Any]] = (),
    **parts: Any,
) -> Path:
    """A campaign folder as `timpani run` leaves it; `parts` of its header. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_header(folder, **header_values(results, **parts))
    write_lines(folder / "results.jsonl", [result.as_line() for result in results])
    write_lines(folder / "launches.jsonl", launches)
    write_lines(folder / "proofs.jsonl", proofs)
    return folder


def write_header(folder: Path, **parts: Any) -> Path:
    """Write campaign.json with these keys, and the folder's place as the campaign's id; returns the folder."""
    values = {"format": FORMAT, "version": VERSION, "id": str(folder), **parts}
    (folder / "campaign.json").write_bytes(seal_object(json.dumps(values).encode()))
    return folder


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of records, whose campaign.json is in the same folder; the lines get new numbers and checksums.

    Fields that a result lacks get their defaults.
    """
    identity = f"{json.loads((path.parent / 'campaign.json').read_bytes())['id']}/{path.name}"
    defaults = RESULT_DEFAULTS if path.name == "results.jsonl" else {}
    records = ({**defaults} | {key: row[key] for key in row if key not in ("line", "checksum")} for row in rows)
    bodies = (json.dumps({**values, "line": number}).encode()[:-1] for number, values in enumerate(records, 1))
    path.write_bytes(
        b"".join(b'%s, "checksum": "%s"}\n' % (each, checksum(each, identity).encode()) for each in bodies)
    )
