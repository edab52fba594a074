"""`timpani compare`: a campaign versus another one, or versus a published table."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from timpani.campaign.folder.load import Campaign, Statistic
from timpani.cli.terminal.completing import complete_published
from timpani.cli.terminal.figure_options import FigureOptions
from timpani.cli.terminal.named_campaigns import two_campaigns
from timpani.cli.terminal.options import FailOn, Force, Format, campaign_argument, expand, format_option
from timpani.errors import UserError
from timpani.report.words.changes_figure import write_changes
from timpani.report.words.changes_formats import changes_junit, changes_openmetrics
from timpani.report.words.changes_text import changes_object, changes_text
from timpani.report.words.drawn_figures import check_figure
from timpani.report.words.limit_line import limit_line
from timpani.slices import Hook
from timpani.tuning.compare.changes import ChangeLimit, Changes
from timpani.tuning.decide.decide import BY_VALUE, UNDECIDED

_PUBLISHED: Hook[Callable[[Path, str, Statistic | None, bool], str | dict[str, Any]]] = Hook("PUBLISHED_COMPARISON")
"""A campaign compared with a published study, by the campaign's statistic: as text, or as an object for JSON."""


@expand(style=FigureOptions)
def compare(
    *,
    folder: Annotated[Path, campaign_argument("What `timpani run -o` wrote.", "A")],
    other: Annotated[Path | None, campaign_argument("A later campaign: print what changed from A to B.", "B")] = None,
    published: Annotated[
        str | None,
        typer.Option(
            help="In place of B, a published study or table: behrooz, malasi, della_siega, assignment2, holt, "
            "holt_osu_latency; the first letters are enough.",
            autocompletion=complete_published,
        ),
    ] = None,
    format: Annotated[
        Format,
        format_option(
            "json has every correlation, every cell, and all numbers behind a conclusion; junit and openmetrics have "
            "every cell of two campaigns.",
            Format.text,
            Format.json,
            Format.junit,
            Format.openmetrics,
        ),
    ] = Format.text,
    figure: Annotated[
        Path | None, typer.Option(help="A new .svg, .png or .pdf: the ratios A / B against size.")
    ] = None,
    statistic: Annotated[
        Literal["completion", "osu"] | None,
        typer.Option(
            help="Times for checking a study's conclusions. completion: median completions. osu: what OSU's "
            "benchmarks print, averages over ranks.",
            show_default="that of the study's tables; without tables, completion",
        ),
    ] = None,
    style: FigureOptions,
    force: Force = False,
    fail_on: FailOn = None,
) -> None:
    """Compare two campaigns; or one with a published study's times and conclusions, and list its doubtful times."""
    limit = ChangeLimit.parse(fail_on) if fail_on is not None else None
    _check_options(other, published, format, figure, limit, statistic)
    if figure is not None:
        check_figure(figure, force, "timpani compare --help")
    if other:
        before, after, found = two_campaigns(folder, other)
        if figure is not None:
            write_changes(found, figure, force, style.chosen())
        result = _changes(before, after, found, format, limit)
    else:
        result = _PUBLISHED.only("--published")(folder, str(published), statistic, format is Format.json)
    typer.echo(result if isinstance(result, str) else json.dumps(result, indent=1, allow_nan=False) + "\n", nl=False)
    if other and limit:
        _fail_on(limit, found)


def _check_options(
    other: Path | None,
    published: str | None,
    format: Format,
    figure: Path | None,
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
    if other is None and figure is not None:
        raise UserError("--figure draws the ratios of two campaigns", "name another campaign, or leave out --figure")
    if other is None and format in (Format.junit, Format.openmetrics):
        raise UserError(f"--format {format} needs two campaigns", "name another campaign, or choose table or json")
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


def _changes(
    before: Campaign, after: Campaign, found: Changes, format: Format, limit: ChangeLimit | None
) -> str | dict[str, Any]:
    if format is Format.junit:
        return changes_junit(before, after, found, limit)
    if format is Format.openmetrics:
        return changes_openmetrics(before, after, found)
    shown = changes_object if format is Format.json else changes_text
    return shown(before, after, found)
