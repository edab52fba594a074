"""Read a campaign folder, and verify that its records and raw samples are as they were written."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self, cast

import polars as pl

from timpani.campaign.folder.bundle import campaign_folder
from timpani.campaign.folder.fields import JobFields
from timpani.campaign.folder.header import Header, planned_points, read_header
from timpani.campaign.folder.header_parts import RecordedStudy
from timpani.campaign.folder.launch_result import RESULT_SCHEMA
from timpani.campaign.folder.machine_states import with_states
from timpani.campaign.folder.raw_record import hashes_of
from timpani.campaign.folder.records import JOBS, PROOFS, RESULTS, Records, read_records
from timpani.errors import UserError
from timpani.stats.compare import STANDARD, Margins
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.point_weights import Point
from timpani.study.schema import ALLOWED, REGRET
from timpani.study.words import counted

Statistic = Literal["completion", "osu"]
"""What is estimated of a call: the median completion, or OSU's average over ranks and repetitions."""


@dataclass(frozen=True)
class StudyName:
    """An algorithm as a study names it, and the one that was measured under this name."""

    collective: str
    named: Algorithm
    measured: Algorithm


@dataclass(frozen=True, eq=False)
class Campaign:
    """What a campaign folder holds.

    header    campaign.json
    results   one row per cell and launch, columns `RESULT_SCHEMA`, STATE, REGRET and ALLOWED
    launches  per start of the MPI program its command, seconds, ranks' hosts and cores, clock error
    proofs    proofs.jsonl: per cell the messages and bytes of each pair of ranks
    planned   the points that were to be measured, with a result or without; none of an import
    statistic of what `median_us` of the results is
    stand_ins algorithms that have the names of those whose place they take
    jobs      jobs.jsonl: where and when the results were measured; none of most imports
    margins    by which verdicts on it judge
    """

    folder: Path
    header: Header
    results: pl.DataFrame
    launches: list[dict[str, Any]]
    proofs: list[dict[str, Any]]
    planned: frozenset[Point] = frozenset()
    statistic: Statistic = "completion"
    stand_ins: tuple[StudyName, ...] = ()
    jobs: tuple[JobFields, ...] = ()
    margins: Margins = STANDARD

    def of_variant(self, name: str = DEFAULT) -> Self:
        """What of it was started as one variant, as if no other had been measured: rules and predictions know one."""
        other = pl.col("variant") != name
        if name == DEFAULT and self.results.filter(other).is_empty():
            return self
        results = self.results.filter(~other).with_columns(pl.lit(DEFAULT).alias("variant"))
        proofs = [{**proof, "variant": DEFAULT} for proof in self.proofs if proof["variant"] == name]
        return replace(self, results=results, proofs=proofs)

    def by_machine(self) -> dict[str, Self]:
        """By machine the campaign that measured there; of a merged one with that machine's header and launches."""
        names = self.header.machine_names
        if len(names) < 2:
            return dict.fromkeys(self.results["machine"].unique(maintain_order=True), self)
        return {name: self._of_machine(name) for name in names}

    def _of_machine(self, name: str) -> Self:
        merged = [each for each in self.header.merged if each.machine == name]
        return replace(
            self,
            header=Header.check(merged[0].header, "campaign.json"),
            results=self.results.filter(machine=name),
            launches=[each for each in self.launches if any(one.has_launch(each.get("launch")) for one in merged)],
            planned=frozenset(point for point in self.planned if point.machine == name),
        )

    @property
    def simulated(self) -> bool:
        """Whether a simulated cluster gave its times."""
        cluster = self.header.machine.cluster
        return cluster is not None and cluster.simulated

    @property
    def settings(self) -> dict[str, dict[str, str]] | None:
        """By collective and label, what a user types to have the algorithm; none of a simulation, which has no library
        to set; None where it is not recorded."""
        return {} if self.simulated else self.header.settings

    @property
    def launch_seconds(self) -> float | None:
        """What one launch of all cells took on average, starts included; None if unknown, as of an import."""
        numbers = {launch["launch"] for launch in self.launches if launch.get("launch")}
        spent = sum(launch.get("seconds") or 0.0 for launch in self.launches if launch.get("launch"))
        return spent / len(numbers) if numbers and spent else None

    @property
    def interleavings(self) -> pl.DataFrame:
        """The `seconds` of the turns of each point in each `launch`, with their preparation; none of an import."""
        points = self.results.drop_nulls("interleaving").unique(("launch", "interleaving"))
        return points.select("launch", seconds=pl.col("setup_s") + pl.col("bursts_s")).drop_nulls()

    @property
    def cell_seconds(self) -> float:
        """What a cell took on average in a launch, without the start; 0 if unknown."""
        return float(self.interleavings["seconds"].sum()) / max(1, len(self.results.drop_nulls("interleaving")))


def load(folder: Path) -> Campaign:
    """Read `folder`, or the campaign packed in a file; UserError when it is no campaign, holds a line that can't be
    believed, or no result yet."""
    folder = campaign_folder(folder)
    header = read_header(folder)
    records = believed_records(folder, header)
    results = records.values(RESULTS)
    if not results:
        raise UserError(f"{folder} holds no result yet", "the same `timpani run` command measures it")
    return Campaign(
        folder=folder,
        header=header,
        results=frame(results).with_columns(
            pl.lit(header.study.regret, dtype=pl.Float64).alias(REGRET),
            pl.lit(_allowed(header.study), dtype=pl.Int64).alias(ALLOWED),
        ),
        launches=records.launches,
        proofs=records.values(PROOFS),
        planned=_planned(header, results[0]["machine"]),
        jobs=tuple(cast("list[JobFields]", records.values(JOBS))),
    )


def load_one_machine(folder: Path) -> Campaign:
    """Read a campaign as `load`; UserError where it is of several machines."""
    return check_one_machine(load(folder))


def check_one_machine(campaign: Campaign) -> Campaign:
    """`campaign`; UserError where it is of several machines, which have no common choice and no common costs."""
    if len(names := campaign.header.machine_names) > 1:
        what = f"{campaign.folder} is of several machines: {', '.join(names)}"
        raise UserError(what, "name the campaign of one machine")
    return campaign


def _planned(header: Header, machine: str) -> frozenset[Point]:
    """The planned points of a campaign on `machine`, or of the campaigns that it was merged from on theirs."""
    if not header.merged:
        return planned_points(header, machine)
    parts = [planned_points(Header.check(each.header, "campaign.json"), each.machine) for each in header.merged]
    return frozenset().union(*parts)


def _allowed(study: RecordedStudy) -> int | None:
    """The launches after which a race ends that may end points earlier; None of others."""
    return study.launches if study.regret is not None and study.budget is None else None


def believed_records(folder: Path, header: Header) -> Records:
    """The records of a campaign; UserError with the first thing in them that can't be trusted."""
    records = read_records(folder, header)
    if problems := list(records.problems(folder)):
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise UserError(f"{problems[0]}{more}", way_on(header))
    return records


def way_on(header: Header) -> str:
    """What to do about records that can't be trusted."""
    if header.merged:
        return "merge the campaigns again into another folder"
    if header.imported:
        return "import the files again into another folder"
    return "the same `timpani run` command sets it aside, keeps the rest and continues"


def read_proofs(folder: Path) -> list[dict[str, Any]]:
    """proofs.jsonl of `folder`."""
    return believed_records(folder, read_header(folder)).values(PROOFS)


def frame(lines: list[dict[str, Any]]) -> pl.DataFrame:
    """Checked results as a frame, with the state of the machine."""
    return with_states(pl.DataFrame(lines, schema=RESULT_SCHEMA, orient="row"))


@dataclass(frozen=True)
class Verification:
    """What the files of a campaign are worth.

    problems   what is not as it was written, in words
    verified   lines whose checksums are their own
    samples    results whose raw samples are there and are theirs
    """

    problems: list[str]
    verified: int
    samples: int


def verify(folder: Path, header: Header) -> Verification:
    """Verify the campaign of `header` in `folder`."""
    records = read_records(folder, header)
    results = records.values(RESULTS)
    mistaken = unlike_samples(folder, results)
    lines = sum(map(len, records.believed.values()))
    from_samples = sum(each.get("samples") is not None for each in results)
    return Verification(
        problems=[*records.problems(folder), *(f"{part}: {said}" for part, (said, _) in mistaken.items())],
        verified=lines,
        samples=from_samples - sum(count for _, count in mistaken.values()),
    )


def sample_warnings(campaign: Campaign) -> Iterator[str]:
    """A sentence for each start whose raw samples are not those that its results came from."""
    results = campaign.results.filter(pl.col("samples").is_not_null()).select("part", "samples")
    for place, (said, _) in unlike_samples(campaign.folder, results.iter_rows(named=True)).items():
        yield f"{place}: {said}"


def unlike_samples(folder: Path, results: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, int]]:
    """By the folder of a start whose raw samples are not those that gave its `results`: what is wrong, of how many."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for result in results:
        if result.get("samples") is not None:
            named[result["part"]].add(result["samples"])
    found = {}
    for part, hashes in sorted(named.items()):
        place = folder / "launches" / part
        if missing := len(hashes - hashes_of(place)):
            what = (
                "the raw samples are gone" if not any(place.glob("samples.jsonl*")) else "the raw samples don't match"
            )
            found[str(place)] = (
                f"{what}: {missing} of {counted(len(hashes), 'result')} can't be verified",
                missing,
            )
    return found
