"""Campaigns from archives of PICO: one for each machine and library, each archive a batch job."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.folder.fields import JobFields
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.store import ImportedJob, check_empty, write_import
from timpani.campaign.read.doubts import Doubt, doubts
from timpani.errors import UserError
from timpani.imports.pico_files import PicoJob, PicoResult, PicoResults, PicoTest, read_archives
from timpani.machine.describe import MachineDescription
from timpani.study.cell import Cell
from timpani.study.schema import schema

_Start = tuple[dict[str, Any], dict[str, Any]]
"""The lines of launches.jsonl and endings.jsonl."""

_COPIED = "same_curve"
"""The doubt that two operations' times are one column: here each call's time shows copies."""


def import_pico(
    paths: Sequence[Path], output: Path, *, command: str, machine: str = "", one_campaign: bool = False
) -> tuple[dict[Path, int], list[Doubt], list[str]]:
    """Make campaigns of all results below `paths`: the number of results by folder, doubtful times, and notes.

    machine       the name of the machine; empty: the name of the system's folder
    one_campaign  write into `output` itself. UserError if the files are of several machines or libraries
    """
    read = read_archives(paths)
    campaigns: defaultdict[tuple[str, str, str], list[list[PicoResult]]] = defaultdict(list)
    for job in read.jobs:
        of_job: defaultdict[tuple[str, str, str], list[PicoResult]] = defaultdict(list)
        for result in job:
            test = result.test
            of_job[machine or test.machine, test.library, test.version].append(result)
        for key, of_key in of_job.items():
            campaigns[key].append(of_key)
    if not campaigns:
        raise UserError(read.left_out[0] if read.left_out else f"{paths[0]} holds no times", "name other files of PICO")
    if one_campaign and len(campaigns) > 1:
        named = " and ".join("-".join(filter(None, key)) for key in campaigns)
        raise UserError(
            f"the files are of {named}", f"`timpani import pico FILE… -o {output}` makes a campaign of each"
        )
    folders = {key: output if one_campaign else output / "-".join(filter(None, key)) for key in campaigns}
    for folder in folders.values():
        check_empty(folder)
    counts, doubtful = {}, []
    for key, jobs in campaigns.items():
        results = _write(folders[key], key, jobs, command, read)
        counts[folders[key]] = len(results)
        doubtful += _doubts(results)
    notes = [f"Note: {each}" for each in read.notes] + [f"Left out: {each}" for each in read.left_out]
    return counts, doubtful, notes


def _write(
    folder: Path, key: tuple[str, str, str], jobs: Sequence[Sequence[PicoResult]], command: str, read: PicoResults
) -> list[LaunchResult]:
    machine, library, version = key
    datatype, _ = Counter(each.datatype for job in jobs for each in job).most_common(1)[0]
    results: list[LaunchResult] = []
    imported: list[ImportedJob] = []
    for job in jobs:
        of_job, starts = _launches(job, machine, datatype, max((each.launch for each in results), default=0))
        results += of_job
        imported.append(ImportedJob(_job(job[0], machine), starts))
    header = Header.new(
        study={
            "title": f"PICO's results of {machine}",
            "question": "",
            "files": [str(Path(job[0].where).parent.parent) for job in jobs],
            "datatype": datatype,
        },
        machine=MachineDescription(name=machine),
        mpi=RecordedMpi(kind=library, version=version),
        command=command,
        results=len(results),
        left_out=[each for each in read.left_out if len(read.jobs) == len(jobs) or f"/{machine}/" in each],
    )
    write_import(folder, header, results, imported)
    return results


def _launches(
    job: Sequence[PicoResult], machine: str, datatype: str, before: int
) -> tuple[list[LaunchResult], tuple[_Start, ...]]:
    """The results of a job, and a start for each launch and each list of ranks.

    The job's k-th time of a cell is in its launch k: so rivals are compared in one launch, and a launch is in one job.

    before  the launches of the jobs before this one
    """
    seen: Counter[Cell] = Counter()
    starts: dict[tuple[int, int, str], _Start] = {}
    results = []
    for each in job:
        test = each.test
        mode = test.mode if each.datatype == datatype else f"{test.mode}, {each.datatype}"
        cell = Cell(test.collective, each.algorithm, test.ranks, test.placement, each.message_bytes, mode)
        seen[cell] += 1
        launch = before + seen[cell]
        place = launch, test.ranks, test.placement
        if place not in starts:
            number = 1 + sum(known == launch for known, *_ in starts)
            starts[place] = _start(f"{launch:04d}-{number}", launch, test, each.job)
        times = each.times
        results.append(
            LaunchResult(
                cell=cell,
                launch=launch,
                machine=machine,
                median_us=times.median,
                ci_low_us=times.low,
                ci_high_us=times.high,
                repetitions=times.calls,
                effective_size=times.effective_size,
                outlier_share=times.outlier_share,
                bimodal=times.bimodal,
                converged=times.precise,
                part=starts[place][0]["part"],
            )
        )
    return results, tuple(starts.values())


def _start(part: str, launch: int, test: PicoTest, job: PicoJob) -> _Start:
    """What launches.jsonl and endings.jsonl record of a start: where each rank ran."""
    ranks = [{"rank": rank, "host": host, "cores": []} for rank, host in enumerate(test.hosts)]
    start = {"launch": launch, "part": part, "placement": test.placement, "started": job.started}
    return start, {"ended": "finished", "world": test.ranks, **({"ranks": ranks} if ranks else {})}


def _job(result: PicoResult, machine: str) -> JobFields:
    job = result.job
    return {
        "job": job.id,
        "machine": machine,
        "system": "slurm" if job.id.isdigit() else "",
        "name": result.test.shape and f"{result.test.shape} nodes",
        "nodes": list(job.nodes),
        "switches": list(job.switches),
        "started": job.started,
    }


def times_of(results: Iterable[tuple[LaunchResult, float]]) -> pl.DataFrame:
    """A row for each result and its rounding, µs: the median, or where none was printed OSU's average."""
    columns = ("collective", "label", "ranks", "message_bytes", "mode")
    types = {**schema(*columns), "time_us": pl.Float64(), "rounding": pl.Float64()}
    rows = [
        (
            *(cell.collective, cell.algorithm.label, cell.ranks, cell.message_bytes, cell.mode),
            each.osu_avg_us if each.median_us is None else each.median_us,
            rounding,
        )
        for each, rounding in results
        for cell in [each.cell]
    ]
    return pl.DataFrame(rows, schema=types, orient="row")


def cell_times(times: pl.DataFrame) -> pl.DataFrame:
    """Of `times_of`, the median over launches: one may be disturbed."""
    cell = pl.exclude("time_us", "rounding")
    return times.group_by(cell, maintain_order=True).agg(pl.median("time_us"), pl.max("rounding"))


def _doubts(results: Iterable[LaunchResult]) -> list[Doubt]:
    """What is impossible or improbable in the cells' medians over launches."""
    found = doubts(cell_times(times_of((each, 0.0) for each in results)))
    return [each for each in found if each.kind != _COPIED]
