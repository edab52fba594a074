"""In which jobs a campaign was measured, and how much times vary between a machine's jobs, as its history says.

A job is a batch job; outside of batch systems, a start of the command.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Self

import polars as pl
from pydantic import TypeAdapter, ValidationError

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError, cannot_write
from timpani.stats.jobs import Components, components
from timpani.study.schema import ALGORITHM, MEASURED_US, POINT
from timpani.study.trust import settings_folder

JOBS_OF_A_MACHINE = 6
"""Jobs from which on a verdict is of the machine: fewer leave the variation between jobs too uncertain."""


@dataclass(frozen=True)
class History:
    """How much times varied over the campaigns of a machine; `jobs` measured them, the last one on the day `until`."""

    machine: str
    jobs: int
    until: str
    components: Components

    @classmethod
    def of_campaigns(cls, campaigns: Sequence[Campaign]) -> Self:
        """UserError where they are of several machines, or no cell was measured in two jobs."""
        rows = pl.concat([each.results for each in campaigns], how="diagonal")
        machines = rows["machine"].unique().to_list()
        if len(machines) > 1:
            raise UserError(
                f"the campaigns are of several machines: {', '.join(sorted(machines))}", "name those of one"
            )
        found = components_of(rows)
        if found.algorithm_in_job is None:
            what = "no two algorithms were measured together in two jobs"
            raise UserError(what, "measure a campaign again, or name more campaigns of the machine")
        starts = {(job["job"], job["started"]) for each in campaigns for job in each.jobs}
        return cls(machines[0], rows["job"].n_unique(), max(start for _, start in starts)[:10], found)

    def remember(self) -> Path:
        """Write it to where `read_history` finds it; returns the file."""
        path = _file(self.machine)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(asdict(self), indent=1) + "\n")
        except OSError as error:
            raise cannot_write(path, error) from None
        return path


def _file(machine: str) -> Path:
    return settings_folder() / "machines" / f"{machine.replace('/', '_')}.json"


def read_history(machine: str) -> History | None:
    """What `timpani machine history` last remembered of a machine; None without any, or if the file is no history."""
    try:
        found = TypeAdapter(History).validate_json(_file(machine).read_bytes())
    except (OSError, ValidationError):
        return None
    known = (each for each in astuple(found.components) if each is not None)
    return found if all(0 <= each < inf for each in known) else None


def components_of(results: pl.DataFrame) -> Components:
    """The components of variance in the successful launches of known jobs."""
    timed = results.filter(pl.col("error").is_null(), MEASURED_US > 0, pl.col("job").is_not_null())
    numbers = (
        pl.struct(names).rank("dense").cast(pl.Int64).alias(name)
        for name, names in (("point", POINT), ("algorithm", ALGORITHM), ("in_job", ("job",)), ("number", ("launch",)))
    )
    columns = timed.select(*numbers, MEASURED_US.log().alias("log")).iter_columns()
    point, algorithm, job, launch, log_time = (column.to_numpy() for column in columns)
    return components(point, algorithm, job, launch, log_time)


@dataclass(frozen=True)
class JobScope:
    """What a verdict holds for.

    jobs         number of jobs that measured something
    at_a_point   the fewest and the most jobs that measured a point
    batch        whether they are batch jobs
    nodes        that they could use
    first, last  when the first and the last of them began to measure
    history      of the machine; None if unknown
    """

    jobs: int
    at_a_point: tuple[int, int]
    batch: bool
    nodes: tuple[str, ...]
    first: datetime
    last: datetime
    history: History | None = None

    @property
    def noun(self) -> str:
        """What a job is called here."""
        return "job" if self.batch else "run"


def job_scope(campaign: Campaign) -> JobScope | None:
    """The jobs that measured a campaign of one machine; None where they are unknown."""
    known = campaign.results.filter(pl.col("error").is_null(), pl.col("job").is_not_null())
    measured = set(known["job"])
    jobs = [job for job in campaign.jobs if job["job"] in measured]
    if not jobs or len({job["machine"] for job in jobs}) > 1:
        return None
    at_points = known.group_by(POINT).agg(pl.n_unique("job"))["job"].to_list()
    starts = sorted(datetime.fromisoformat(job["started"]) for job in jobs)
    return JobScope(
        jobs=len(jobs),
        at_a_point=(min(at_points), max(at_points)),
        batch=any(job["system"] for job in jobs),
        nodes=tuple(sorted({node for job in jobs for node in job["nodes"]})),
        first=starts[0],
        last=starts[-1],
        history=read_history(jobs[0]["machine"]),
    )
