"""`timpani compare`: a campaign versus another one, or versus a published table."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from timpani.campaign.folder.load import Campaign, Statistic
from timpani.cli.terminal.completing import complete_published
from timpani.cli.terminal.named_campaigns import two_campaigns
from timpani.cli.terminal.options import FailOn, Format, campaign_argument, document_format, document_text
from timpani.errors import UserError
from timpani.judge.changes import ChangeLimit, Changes
from timpani.judge.decide import BY_VALUE, UNDECIDED
from timpani.report.document.blocks import Document
from timpani.report.document.formats import json_text
from timpani.report.verdict.changes import changes_document, changes_junit, changes_object, limit_line
from timpani.slices import Hook

_PUBLISHED: Hook[Callable[[Path, str, Statistic | None], Document]] = Hook("PUBLISHED_COMPARISON")
"""A campaign compared with a published study, or with a user's file of conclusions, by the campaign's statistic."""


def compare(
    folder: Annotated[Path, campaign_argument("What `timpani run -o` wrote.", "A")],
    other: Annotated[Path | None, campaign_argument("A later campaign: print what changed from A to B.", "B")] = None,
    published: Annotated[
        str | None,
        typer.Option(
            help="In place of B, a published study or table: behrooz, malasi, della_siega, assignment2, holt, "
            "holt_osu_latency; the first letters are enough. Or a file of conclusions, *.toml.",
            autocompletion=complete_published,
        ),
    ] = None,
    format: Annotated[
        Format,
        document_format(
            "json has every cell, and all numbers behind a conclusion; junit has every cell of two campaigns.",
            Format.junit,
        ),
    ] = Format.text,
    statistic: Annotated[
        Literal["completion", "osu"] | None,
        typer.Option(
            help="Times for checking a study's conclusions. completion: median completions. osu: what OSU's "
            "benchmarks print, averages over ranks.",
            show_default="that of the study's tables; without tables, completion",
        ),
    ] = None,
    fail_on: FailOn = None,
) -> None:
    """Compare two campaigns; or one with a published study's times and conclusions, and list its doubtful times."""
    limit = ChangeLimit.parse(fail_on) if fail_on is not None else None
    _check_options(other, published, format, limit, statistic)
    if other:
        before, after, found = two_campaigns(folder, other)
        result = _changes(before, after, found, format, limit)
    else:
        result = document_text(_PUBLISHED.only("--published")(folder, str(published), statistic), format)
    typer.echo(result, nl=False)
    if other and limit:
        _fail_on(limit, found)


def _check_options(
    other: Path | None,
    published: str | None,
    format: Format,
    limit: ChangeLimit | None,
    statistic: Statistic | None,
) -> None:
    """UserError where options do not fit together."""
    if other is not None and statistic is not None:
        raise UserError("--statistic is for --published", "leave it out: two campaigns are compared by completion")
    if (other is None) == (published is None):
        raise UserError(
            "a campaign is compared with one other thing",
            "name another campaign (timpani compare A B), or a published table (--published malasi)",
        )
    if other is None and format is Format.junit:
        raise UserError("--format junit needs two campaigns", "name another campaign, or choose another format")
    if other is None and limit is not None:
        raise UserError("--fail-on needs two campaigns", "name another campaign, or leave out --fail-on")


def _fail_on(limit: ChangeLimit, found: Changes) -> None:
    """Report on standard error whether `limit` is met; exits with 1 where it is."""
    by_value = found.count(BY_VALUE)
    if found.cells.height == by_value:
        raise UserError(f"--fail-on {limit}: no cell of both campaigns can be tested", "measure the same cells in both")
    if not found.can_differ:  # a gate that never closes would report success for ever
        raise UserError(
            f"--fail-on {limit}: with so few launches no cell can differ significantly", "measure more launches of both"
        )
    met = [limit.change(ratio) for ratio in limit.meeting(found.cells)["ratio"]]
    typer.echo(limit_line(limit, met, "cell", found.count(UNDECIDED), by_value), err=True)
    if met:
        raise typer.Exit(1)


def _changes(before: Campaign, after: Campaign, found: Changes, format: Format, limit: ChangeLimit | None) -> str:
    match format:
        case Format.junit:
            return changes_junit(before, after, found, limit)
        case Format.json:
            return json_text(changes_object(before, after, found))
        case _:
            return document_text(changes_document(before, after, found), format)
