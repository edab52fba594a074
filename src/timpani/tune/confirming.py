"""Confirm the rules in a folder, and rewrite its files without the rules that lost."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from timpani.campaign.folder.load import Campaign
from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
from timpani.cli.terminal.completing import complete_campaign
from timpani.cli.terminal.measuring import measure_or_exit
from timpani.cli.terminal.options import Trust
from timpani.errors import UserError
from timpani.judge.changes import ChangeLimit
from timpani.native.mpi import Mpi
from timpani.report.document.formats import render
from timpani.report.document.output_files import write_file
from timpani.report.verdict.answer import brief_warnings, more_warnings
from timpani.report.verdict.changes import limit_line
from timpani.study.cell import Cell
from timpani.study.selection import SelectionTable
from timpani.study.words import counted
from timpani.tune.confirmation import ConfirmedPoint, changes_meeting
from timpani.tune.confirmation_text import PAGE as CONFIRMATION_PAGE
from timpani.tune.confirmation_text import confirmed_document, confirmed_lines, confirmed_warnings, setting_lines
from timpani.tune.from_campaign import load_together
from timpani.tune.source_warnings import MadeFrom
from timpani.tune.source_warnings import made_from as known_of
from timpani.tune.table_file import TABLE_FILE, read_table_to_use, seal_page
from timpani.tune.tuned_files import TunedFiles, tuned_names
from timpani.tune.tuned_page import PAGE, tuned_document
from timpani.tune.workflow import MAX_ROUNDS, ConfirmRequest, confirm_rules


@dataclass(frozen=True)
class ConfirmedFrom:
    """What the rules were made from, and the library, as typed."""

    campaign: Annotated[
        list[Path] | None,
        typer.Option(
            help="A campaign from which the rules were chosen.",
            show_default="where it was then",
            autocompletion=complete_campaign,
        ),
    ] = None
    mpi: Annotated[str | None, typer.Option(help="The library, if it isn't found automatically.")] = None
    trust: Trust = None


def table_and_campaign(folder: Path, named: list[Path]) -> tuple[SelectionTable, Campaign, MadeFrom]:
    """The table in `folder`, the campaigns that it was made from, or those `named`, and what to know of them."""
    table = read_table_to_use(folder)
    campaigns = named or list(map(Path, table.campaigns))
    if lost := [each for each in campaigns if not each.exists()]:
        raise UserError(f"{folder / TABLE_FILE} was made from {lost[0]}, which is not there", "name it with --campaign")
    made_from = load_together(campaigns)
    return table, made_from, known_of(campaigns, made_from)


def confirm_folder(
    folder: Path, campaigns: list[Path], request: ConfirmRequest, limit: ChangeLimit | None = None
) -> None:
    """Confirm the rules in `folder`, made from `campaigns` (none: those that its table names); exits as the command.

    With a `limit` the exit status is also 1 if a point of any round meets it.
    """
    table, made_from, known = table_and_campaign(folder, campaigns)
    if predicted := table.predicted and table.predicted.rules:
        typer.echo(
            f"left alone: {counted(len(predicted), 'predicted rule')}; a machine with their ranks can confirm them"
        )

    rounds = []
    for each in confirm_rules(table, made_from, folder, request, _measure):
        rounds.append(each.confirmed)
        warnings = confirmed_warnings(known_of([each.measured.folder], each.measured), known)
        found = confirmed_document(each.table, each.confirmed, each.measured, warnings, each.unreached, each.setting)
        page = render(found, "markdown")
        write_file(folder / CONFIRMATION_PAGE, seal_page(page, (folder / TABLE_FILE).read_text()).encode(), True)
        ruled = confirmed_lines(each.confirmed, each.unreached) if each.table.rules else ()
        for line in (*ruled, *setting_lines(each.setting), *brief_warnings(warnings)):
            typer.echo(line)
        if more := more_warnings(warnings):
            typer.echo(f"{more}: {shlex.quote(str(folder / CONFIRMATION_PAGE))}")
        if each.files is None:
            typer.echo(f"read on: {shlex.quote(str(folder / CONFIRMATION_PAGE))}")
            raise typer.Exit(max(int(each.killed > 0), _limit_status(limit, rounds)))
        taken = len(each.table.rules) - len(each.remaining.rules)
        if taken:
            typer.echo(f"taken out: {counted(taken, 'rule')} that made something slower, or did not do what it says")
        if each.table.setting and not each.remaining.setting:
            typer.echo(f"taken out: the setting {each.table.setting.name}, which made something slower")
        rewrite(each.remaining, each.files, each.library, folder, known)
        if each.remaining.is_empty:
            typer.echo("no rule is left: the library chooses as before")
            _limit_status(limit, rounds)
            raise typer.Exit(1)
    typer.echo(f"rules were taken out in {MAX_ROUNDS} rounds: the same command confirms those that are left")
    if status := _limit_status(limit, rounds):
        raise typer.Exit(status)


def _limit_status(limit: ChangeLimit | None, rounds: list[list[ConfirmedPoint]]) -> int:
    """Report whether a point of any round meets `limit`; the exit status."""
    if limit is None:
        return 0
    met = [change for confirmed in rounds for change in changes_meeting(limit, confirmed)]
    undecided = sum(each.standing in ("undecided", "unknown") for each in rounds[-1])
    typer.echo(limit_line(limit, met, "point", undecided), err=True)
    return int(bool(met))


def _measure(session: Session, into: Path, prove: Callable[[Cell], bool] | None = None) -> Outcome:
    return measure_or_exit(
        session, into, prove, lambda folder: f"to measure them, remove {shlex.quote(str(folder))} and confirm again"
    )


def rewrite(table: SelectionTable, files: TunedFiles, library: Mpi, folder: Path, known: MadeFrom) -> None:
    """Write the files of `table` in place of the existing ones; a file without any rule left is removed."""
    for name in tuned_names(library):
        if name not in files.texts:
            (folder / name).unlink(missing_ok=True)
    for name, text in files.texts.items():
        write_file(folder / name, text.encode(), force=True)
    written = render(tuned_document(table, files, folder, library.name, known), "markdown")
    page = seal_page(written, files.texts[TABLE_FILE])
    write_file(folder / PAGE, page.encode(), force=True)
