"""What Python programs and notebooks use: a campaign as polars frames and Altair charts, and measuring one."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from timpani.campaign.folder.fields import EndingFields, StartFields, recorded_fields
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.folder.raw_record import PACKED, read_lines
from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.campaign.run.run import Observer
from timpani.campaign.run.session import Place
from timpani.errors import unknown
from timpani.judge.cell_table import cells_in_context
from timpani.judge.decide import decide
from timpani.judge.raced import raced_results
from timpani.report import runnable_study
from timpani.study.cell import Cell
from timpani.study.compose import compose
from timpani.study.keys import KEYS
from timpani.study.schema import MACHINE_CELL
from timpani.study.words import counted

if TYPE_CHECKING:
    from timpani.report.figures.theme import Chart

_SAMPLES = {"completion_ns": "completion_us", "average_ns": "osu_avg_us", "skew_ns": "skew_us"}
"""Columns of `OpenedCampaign.samples`, by what the raw record calls them."""


class OpenedCampaign:
    """What `timpani show`, `verdict` and `report` print of one campaign folder, as data.

    Every table is a polars frame; `.to_pandas()` converts it if `timpani[pandas]` is installed. Times are in
    microseconds, sizes in bytes.
    """

    def __init__(self, folder: Path) -> None:
        """Read `folder`; UserError when it is no campaign or holds no result."""
        self._campaign = load(folder)

    def __repr__(self) -> str:
        """The folder, what was measured where, and how much."""
        header = self._campaign.header
        what = header.study.title or ", ".join(self.results["collective"].unique(maintain_order=True))
        much = f"{counted(self.results.height, 'result')} of {counted(self.launches.height, 'launch')}"
        return f"<campaign {str(self.folder)!r}: {what}, {header.mpi.title} on {header.machine.name}, {much}>"

    @property
    def folder(self) -> Path:
        """Where the campaign is."""
        return self._campaign.folder

    @cached_property
    def cells(self) -> pl.DataFrame:
        """One row per cell, estimated over its launches: the columns of docs/reference.md."""
        return cells_in_context(self._campaign)

    @property
    def results(self) -> pl.DataFrame:
        """One row per cell and launch: the columns of results.jsonl in docs/reference.md."""
        return self._campaign.results

    @cached_property
    def launches(self) -> pl.DataFrame:
        """One row per start of the MPI program: the fields of launches.jsonl and endings.jsonl in
        docs/reference.md, null where they were not recorded. `environment` is a list of `name` and `value`."""
        fields = (*recorded_fields(StartFields), *recorded_fields(EndingFields))
        rows = [dict.fromkeys(fields) | launch for launch in self._campaign.launches]
        for row in rows:  # as an object it would have a field for each variable of any start
            variables = (row["environment"] or {}).items()
            row["environment"] = [{"name": name, "value": value} for name, value in variables]
        return pl.DataFrame(rows, schema=None if rows else fields, infer_schema_length=None)

    @cached_property
    def samples(self) -> pl.DataFrame:
        """One row per timed repetition, in the order they ran: the cell, `launch`, `repetition` (from 0),
        `completion_us`, `osu_avg_us`, `skew_us`. Empty where the raw samples are gone, as of an import."""
        lines = {
            line.sha256: line.values["measured"]
            for path in sorted((self.folder / "launches").glob(f"*/{PACKED}"))
            for line in read_lines(path)
            if "measured" in line.values
        }
        key = [*MACHINE_CELL, "launch"]
        schema: dict[str, pl.DataType | type[pl.DataType]] = {
            **{name: self.results.schema[name] for name in key},
            "repetition": pl.Int64,
            **dict.fromkeys(_SAMPLES.values(), pl.Float64),
        }
        frames = [pl.DataFrame(schema=schema)]
        for row in self.results.filter(pl.col("samples").is_in(list(lines))).iter_rows(named=True):
            measured = lines[row["samples"]]
            calls = measured.get("messages_per_sample", 1)
            times = {
                column: pl.Series(measured[name], dtype=pl.Float64) / 1e3 / (1 if name == "skew_ns" else calls)
                for name, column in _SAMPLES.items()
            }
            frames.append(
                pl.DataFrame(times)
                .with_row_index("repetition")
                .select(
                    *(pl.lit(row[name], dtype=self.results.schema[name]).alias(name) for name in key),
                    pl.col("repetition").cast(pl.Int64),
                    *_SAMPLES.values(),
                )
            )
        return pl.concat(frames)

    @cached_property
    def decisions(self) -> pl.DataFrame:
        """One row per point: the best algorithm, what ties with it, and how the default compares."""
        return decide(raced_results(self._campaign))

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """What `timpani verdict --format json` prints: docs/reference.md."""
        from timpani.report.verdict.verdict_text import verdict_object

        return verdict_object(self._campaign)

    @cached_property
    def figures(self) -> Mapping[str, "Chart"]:
        """The report's figures, one per choice of its selectors, by family and name as the files of `timpani report
        --figures DIR --all-figures`; a chart is made when it is asked for."""
        return _Figures(self._campaign)


class _Figures(Mapping[str, "Chart"]):
    def __init__(self, campaign: Campaign) -> None:
        from timpani.report.page.contents import Report
        from timpani.report.page.figure_files import figure_files

        self._files = {str(file.path): file for file in figure_files(Report(campaign))}

    def __getitem__(self, name: str) -> "Chart":
        from timpani.report.figures.theme import LIGHT

        file = self._files[name]
        return file.panel.chart(file.choice.rows, LIGHT, False).properties(title=file.choice.title)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


Note = Callable[[str], object]


def measure_campaign(
    what: Collection[str],
    folder: Path,
    mpi: str | None,
    on: str | None,
    oversubscribe: bool,
    note: Note,
    options: Mapping[str, Any],
) -> OpenedCampaign:
    """See `timpani.measure`."""
    arguments = [*KEYS, "algorithms"]
    if strange := [name for name in options if name not in arguments]:
        raise unknown("argument", strange[0], arguments, "timpani help run")
    session = Place(on, [mpi] if mpi else [], oversubscribe).prepare(
        lambda given: runnable_study(what, compose(list(what), given)), options, note
    )

    @contextmanager
    def observing(plan: CampaignPlan, done: Collection[tuple[Cell, int]]) -> Iterator[Observer]:
        yield _Notes(note)

    session.complete(folder, observing)
    if session.stopped is not None:
        raise KeyboardInterrupt
    return OpenedCampaign(folder)


class _Notes:
    """An observer that passes on what is worth knowing, and no progress."""

    def __init__(self, note: Note) -> None:
        self._note = note

    def started(self, group: Group) -> None:
        pass

    def measured(self, result: LaunchResult) -> None:
        pass

    def note(self, text: str) -> None:
        self._note(text)
