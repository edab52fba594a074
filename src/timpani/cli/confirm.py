"""`timpani confirm`: whether tuning files keep their promise, measured anew."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from timpani.campaign.folder.load import Campaign
    from timpani.native.mpi import Mpi
    from timpani.report.tuned.source_warnings import MadeFrom
    from timpani.tuning.decide.selection_table import SelectionTable

_MOST_ROUNDS = 3


def confirm(
    folder: Annotated[Path, typer.Argument(help="What `timpani tune` wrote.", show_default=False)],
    launches: Annotated[
        int | None,
        typer.Option(min=1, help="Starts of the MPI program.", show_default="the campaign's, 10 or more"),
    ] = None,
    campaign: Annotated[
        list[Path] | None,
        typer.Option(help="A campaign that the rules were made from.", show_default="where they were"),
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(help="The library, where it isn't found by itself.", show_default=False)
    ] = None,
) -> None:
    """Measure anew what tuning files gain: at their rules' edges, at measured sizes, and at sizes between.

    Rules that lose are taken out of the files, and what is left is confirmed again. The same command goes on where it
    was stopped. The exit status is 1 where no rule is left, or cells were given up.
    """
    from timpani.report.tuned.confirmation_text import PAGE, confirmed_lines, confirmed_page, confirmed_warnings
    from timpani.report.tuned.source_warnings import made_from as known_of
    from timpani.report.words.answer import brief_warnings, more_warnings
    from timpani.report.words.output_files import write_file
    from timpani.rules.confirm.confirmation import confirm as judge
    from timpani.rules.confirm.confirmation import losing, without
    from timpani.rules.table.from_campaign import check_made_from, installed
    from timpani.rules.table.merged_campaigns import load_together
    from timpani.rules.table.table_file import NAME, read_table
    from timpani.study.counted import counted

    table = read_table(folder / NAME)
    campaigns = campaign or [Path(each) for each in table.campaigns]
    made_from = load_together(campaigns)
    check_made_from(table, made_from)
    known = known_of(campaigns, made_from)
    if predicted := table.predicted and table.predicted.rules:
        typer.echo(
            f"left alone: {counted(len(predicted), 'predicted rule')}; a machine of so many ranks can confirm them"
        )
    library = installed(made_from, mpi)
    for _ in range(_MOST_ROUNDS):
        measured, given_up = _measure(table, made_from, library, folder, launches)
        confirmed = judge(table, made_from, measured)
        lost = losing(confirmed)
        warnings = confirmed_warnings(known_of([measured.folder], measured), known)
        write_file(folder / PAGE, confirmed_page(table, confirmed, measured, warnings).encode(), force=True)
        for line in (*confirmed_lines(confirmed), *brief_warnings(warnings)):
            typer.echo(line)
        if more := more_warnings(warnings):
            typer.echo(f"{more}: {shlex.quote(str(folder / PAGE))}")
        if not lost:
            typer.echo(f"read on: {shlex.quote(str(folder / PAGE))}")
            raise typer.Exit(given_up)
        fewer = without(table, lost)
        taken = len(table.rules) - len(fewer.rules)
        typer.echo(f"taken out: {counted(taken, 'rule')} that made something slower, or did not do what it says")
        table = fewer
        _rewrite(table, library, folder, known)
        if not table.rules:
            typer.echo("no rule is left: the library's own choice stands")
            raise typer.Exit(1)
    typer.echo(f"rules were taken out in {_MOST_ROUNDS} rounds: the same command confirms those that are left")


def _measure(
    table: "SelectionTable", made_from: "Campaign", library: "Mpi", folder: Path, launches: int | None
) -> "tuple[Campaign, int]":
    """A campaign of the files as they are now, begun or gone on with; and the exit status, 0 unless cells were given
    up."""
    from timpani.campaign.folder.load import load
    from timpani.campaign.run.session import Session
    from timpani.cli.terminal.ending import given_up_status, stopped_status
    from timpani.cli.terminal.measuring import measure
    from timpani.rules.confirm.confirmation_study import cells_to_prove, confirmation_study

    study = confirmation_study(table, made_from, folder, launches)
    machine = made_from.header.machine
    hosts = machine.hosts if machine.cluster else ()
    session = Session.prepare(study, str(library.mpirun), True, machine.cluster, hosts)
    into = _folder_of(folder, table)
    typer.echo(f"measuring into {into}", err=True)
    outcome = measure(session, into, prove=cells_to_prove(table, made_from))
    if stopped := stopped_status(outcome, session.stopped):
        raise typer.Exit(stopped)
    return load(into), given_up_status(outcome, f"to measure them, remove {shlex.quote(str(into))} and confirm again")


def _folder_of(folder: Path, table: "SelectionTable") -> Path:
    """The confirmation of these rules, by their number: with each that is taken out there is one less."""
    return folder / f"confirmation-of-{len(table.rules)}"


def _rewrite(table: "SelectionTable", library: "Mpi", folder: Path, known: "MadeFrom") -> None:
    """The files of `table` in place of those that are there; a file that has nothing to say any more goes."""
    from timpani.libraries.registry import LIBRARIES
    from timpani.report.tuned.tuned_page import PAGE, tuned_page
    from timpani.report.words.output_files import write_file
    from timpani.rules.table.tuned_files import tuned_files, tuned_names

    written = tuned_files(table, library, LIBRARIES[library.kind].catalogue(library), folder)
    for name in tuned_names(library):
        if name not in written.texts:
            (folder / name).unlink(missing_ok=True)
    for name, text in written.texts.items():
        write_file(folder / name, text.encode(), force=True)
    write_file(folder / PAGE, tuned_page(table, written, folder, library.name, known).encode(), force=True)
