"""A campaign next to what a study published: its times, what is doubtful in them, and what it concluded."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from timpani.campaign.folder.load import Campaign, Statistic, load
from timpani.campaign.read.message_locality import without_pairs
from timpani.campaign.read.study_names import by_statistic, notes_on, study_label, with_study_names
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.document.blocks import Block, Bullets, Document, Sentence, Table, Value, rows
from timpani.report.document.formats import finite
from timpani.report.document.text import text_of
from timpani.report.figures.columns import CALLS, MESSAGES, status_words
from timpani.report.tables.algorithm_tables import shows_throughput, status_parts, with_unit
from timpani.report.tables.campaign_tables import study_tables
from timpani.report.tables.conditions import coverage, with_conditions
from timpani.stats.sample import LEVEL
from timpani.studies.agreement import agreement, agreement_blocks, pair_times, unpaired
from timpani.studies.claim import FAILS, HOLDS, IN_PART, NOT_TESTABLE, Case, ClaimResult, where_it_fails
from timpani.studies.claim_conditions import Checked, check_claims
from timpani.studies.tables import (
    COMPARISON,
    TIMES,
    Published,
    is_import_of,
    published_doubts,
    published_times,
    read_published,
)
from timpani.study.operations import title_of
from timpani.study.schema import MEASURED_US, STATISTIC
from timpani.study.words import counted, per_cent

if TYPE_CHECKING:
    from timpani.report.page.contents import Report
    from timpani.report.page.sections import PageSection


def compared_with_published(folder: Path, name: str, statistic: Statistic | None) -> Document:
    """The campaign in `folder` next to the published study or table `name`, or a user's file of conclusions.

    statistic  by which conclusions are checked; None: that of the study's tables
    """
    table = read_published(name, COMPARISON)
    return comparison(with_study_names(by_statistic(load(folder), statistic or table.statistic)), table)


def comparison(campaign: Campaign, table: Published) -> Document:
    """Agreement, a table of each message, doubts and conclusions, and what stands in for what they name.

    Conclusions are checked against the campaign's statistic, times against its OSU averages.
    """
    blocks = [*_times(campaign, table)]
    if doubts := published_doubts(table):
        blocks.append(Bullets("doubts", tuple(doubt.text for doubt in doubts), "Doubts about the published table"))
    blocks += claim_blocks(table, check_claims(table, campaign), campaign.statistic)
    notes = notes_on(campaign.stand_ins, text_of(blocks))
    return Document(table.title, (*blocks, *(Sentence("stand_in", note) for note in notes)))


def _times(campaign: Campaign, table: Published) -> Iterator[Block]:
    """How times agree."""
    cells = without_pairs(estimate_cells(raced_results(campaign)))
    times = named_times(campaign, table)
    if is_import_of(campaign.header, table):
        text = "This campaign is the published table itself, so nothing here was measured"
        yield Sentence("compared", f"{text}: {table.title}", {"itself": True})
        return
    if times.is_empty():
        yield Sentence("compared", f"No times were published, so that only the conclusions are checked: {table.title}")
    else:
        found = agreement(pair_times(cells, times))
        simulated = bool(campaign.results["simulated"].any())
        yield from agreement_blocks(found, unpaired(cells, times), table.title, simulated)
    yield from message_times_tables(campaign, times, table.title)


def named_times(campaign: Campaign, table: Published | None) -> pl.DataFrame:
    """The published times, columns as of `published_times`, under the names of `campaign`; none without a table."""
    if not table:
        return pl.DataFrame(schema=TIMES)
    shown = pl.struct("collective", "label").map_elements(
        lambda row: study_label(campaign, row["collective"], row["label"]), return_dtype=pl.String
    )
    return published_times(table, campaign.header.mpi.kind).with_columns(label=shown)


_PARTLY_TESTED = {HOLDS: "nothing against it", FAILS: "against it", IN_PART: "partly against it"}
"""Verdicts in words where the study's conditions aren't met: they are no verdicts on what it concluded."""


def claim_blocks(table: Published, checked: list[Checked], statistic: Statistic) -> Iterator[Block]:
    """A table of verdicts, and of each claim its test with the numbers; nothing where the study has no claim.

    statistic  of the campaign's times
    """
    if not checked:
        return
    of_table, of_campaign = bool(table.study), any(each.here for each in checked)
    here = f"; here checked with {'OSU averages' if statistic == 'osu' else 'completions'}" if of_campaign else ""
    yield Sentence("concluded", f"What the study concluded ({table.study or table.name}){here}:")
    yield Table(
        "conclusions",
        ("conclusion", *(["published"] if of_table else []), *(["here"] if of_campaign else [])),
        rows(
            (
                each.published.claim.says,
                *([_short_verdict(each.published)] if of_table else []),
                *([_short_verdict(each.here, each.differences)] if each.here else []),
            )
            for each in checked
        ),
        footnotes=("4 of 8: 4 of 8 cases confirm the conclusion.",),
        wraps=True,
    )
    for each in checked:
        claim, published = each.published.claim, each.published
        about = {name: getattr(claim, name) for name in ("study", "by", "check", "scope")}
        yield Sentence("claim", f"{claim.by}: {claim.says}", {"says": claim.says, **about}, depth=1)
        if published.measure:
            yield Sentence("test", f"test: {claim.scope}; {published.measure}", depth=2)
        if of_table:
            yield Sentence("published", f"published: {_verdict_text(published)}", _finding(published), depth=2)
        if each.here:
            tested = each.here.verdict != NOT_TESTABLE
            where = ", ".join(("here", *(each.differences if tested else ())))
            text = f"{where}: {_verdict_text(each.here, each.differences)}"
            yield Sentence("here", text, _finding(each.here) | {"differences": list(each.differences)}, depth=2)


def _finding(finding: ClaimResult) -> dict[str, Any]:
    cases = [
        {
            **{name: getattr(case, name) for name in ("where", "value", "ranks", "bytes", "part", "holds", "tied")},
            "low": finite(case.low),
            "high": finite(case.high),
        }
        for case in finding.cases
    ]
    return {"says": finding.claim.says, "verdict": finding.verdict, "why": finding.why, "cases": cases}


def _verdict(finding: ClaimResult, differences: Sequence[str]) -> str:
    return _PARTLY_TESTED.get(finding.verdict, finding.verdict) if differences else finding.verdict


def _short_verdict(finding: ClaimResult, differences: Sequence[str] = ()) -> str:
    """The verdict, and how many cases confirm the conclusion."""
    if finding.verdict == NOT_TESTABLE:
        return "not testable"
    verdict = _verdict(finding, differences)
    return verdict if len(finding.cases) == 1 else f"{verdict}, {finding.holding} of {len(finding.cases)}"


def _verdict_text(finding: ClaimResult, differences: Sequence[str] = ()) -> str:
    if finding.verdict == NOT_TESTABLE:
        return f"{finding.verdict}: {finding.why}"
    return "; ".join([_verdict(finding, differences), *_numbers(finding), *_interval(finding.cases)])


def _numbers(finding: ClaimResult) -> Iterator[str]:
    cases = finding.cases
    if len(cases) == 1:
        yield f"{cases[0].value:.3g} ({cases[0].where})"
        return
    values = [case.value for case in cases]
    yield (
        f"in {finding.holding} of {counted(len(cases), 'case')} ({finding.holding / len(cases):.0%}), values "
        f"{min(values):.3g} to {max(values):.3g}"
    )
    if finding.verdict in (IN_PART, FAILS) and cases[0].ranks:  # else each case covers all sizes and rank counts
        yield f"cases that do not hold: {', '.join(where_it_fails(cases)) or 'at all sizes and rank counts'}"
    if failing := [case for case in cases if case.holds is False]:
        worst = max(failing, key=lambda case: case.line.distance(case.value))
        yield f"most against it: {worst.value:.3g} ({worst.where})"
    if ties := sum(case.tied for case in cases):
        yield counted(ties, "tie")
    if still_open := sum(case.is_open for case in cases):
        yield f"{still_open} undecided"


def _interval(cases: tuple[Case, ...]) -> Iterator[str]:
    if all(case.low is None for case in cases):
        yield "single values, no interval"
    elif all(case.low == case.high for case in cases):
        yield "simulated, nothing varies"
    elif any(case.high is not None and finite(case.high) is None for case in cases):
        yield "fewer than 5 launches bound nothing"
    else:
        yield f"by {per_cent(LEVEL)} intervals of both times"


_ON = ("collective", "placement", "label", "ranks", "message_bytes")


def message_times_tables(campaign: Campaign, published: pl.DataFrame, title: str) -> list[Table]:
    """A table for each operation and pair of ranks: a row for each size with this campaign's OSU average, the median
    over launches, and its interval; the published value; and their ratio, over 1 where this campaign's is larger.

    published  columns as `published_times` has them
    """
    cells = without_pairs(estimate_cells(raced_results(by_statistic(campaign, "osu")))).filter(
        pl.col("collective").is_in(MESSAGES)
    )
    pairs = pair_times(cells.with_columns(osu_avg_us=MEASURED_US), published).drop_nulls("published_us")
    bounds = cells.select(*_ON, "ci_low_us", "ci_high_us", "ci_coverage", "status").unique(_ON)
    joined = pairs.join(bounds, on=_ON, how="left", maintain_order="left")
    return [
        _table(part, str(collective), str(placement), title)
        for (collective, placement), part in joined.group_by("collective", "placement", maintain_order=True)
    ]


def _table(part: pl.DataFrame, collective: str, placement: str, title: str) -> Table:
    in_throughput = shows_throughput(collective)
    unit = "MB/s" if in_throughput else "µs"
    entries = []
    for row in part.sort("message_bytes").iter_rows(named=True):
        ends = row["ci_low_us"], row["ci_high_us"]
        values = [row["time_us"], row["published_us"], *ends]
        here, printed, low, high = values
        if in_throughput:
            here, printed, high, low = (row["message_bytes"] / each if each else None for each in values)
        assert here is not None
        assert printed is not None
        ratio = Value(here / printed, show="{:.2f}".format)
        entries.append((row["message_bytes"], Value(here, low, high), printed, ratio))
    statuses = [status_words(status) for status in status_parts(part)]
    notes = [f"Some or all times here: {', '.join(statuses)}."] if statuses else []
    return Table(
        "messages",
        ("size (B)", "here", "published", "here / published"),
        rows(entries),
        f"{title_of(collective)}, placed by {placement}: OSU's average here and published ({unit}): {title}",
        f"{coverage(part)} interval".strip(),
        footnotes=tuple(notes),
    )


def study_section(report: "Report") -> "PageSection":
    """The same cells as the studies set them, so that they can stand next to published tables."""
    from timpani.report.page.sections import PageSection  # draws, and a comparison does not

    campaign = by_statistic(report.campaign, "osu")
    raced = replace(
        raced_results(report.campaign), rows=campaign.results
    )  # the race went by medians, whatever is shown
    cells = with_conditions(estimate_cells(raced)).with_columns(pl.lit("osu").alias(STATISTIC))
    calls = cells.filter(CALLS)
    by_collective = study_tables(campaign, calls) if calls.height else {}
    return PageSection(
        "study-tables",
        "Tables by algorithm, with OSU’s average",
        105,
        (
            "A table for each algorithm, as studies with the OSU benchmarks print their times. OSU’s average, a "
            "mean over ranks and calls, is usually lower than the median completion, but disturbed calls raise it.",
        ),
        tables={with_unit(name): tables for name, tables in by_collective.items()},
        folds="all",
        narrow=True,
    )
