"""`timpani course`: assignments for students."""

import secrets
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from timpani.cli.terminal.completing import complete_assignment
from timpani.errors import AlgorithmError

if TYPE_CHECKING:
    from timpani.campaign.folder.load import Campaign

app = typer.Typer(no_args_is_help=True)


@app.callback()
def course() -> None:
    """Write assignments for students, check and grade them."""


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="The assignment's folder: new or empty.")],
    seed: Annotated[
        int | None, typer.Option(min=0, max=1_000_000, help="Another seed is another assignment.", show_default="drawn")
    ] = None,
) -> None:
    """Write an assignment: one collective, an algorithm with TODOs, a study and a report to fill in."""
    from timpani.course.assignment import MAX_SEED, Assignment
    from timpani.course.assignment_folder import write_folder

    assignment = Assignment.draw(secrets.randbelow(MAX_SEED) if seed is None else seed)
    write_folder(folder, assignment)
    typer.echo(f"assignment {assignment.seed}, {assignment.collective}: {assignment.words}")
    typer.echo(f"{folder / 'README.md'} says what to do; `timpani course check {shlex.quote(str(folder))}` checks it")


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="The assignment's folder.", autocompletion=complete_assignment)],
    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Measure the study there: here, lab or a machine file, into measured/ in the folder.",
            show_default="simulated",
        ),
    ] = None,
    oversubscribe: Annotated[bool, typer.Option("--oversubscribe", help="Allow more ranks than cores.")] = False,
) -> None:
    """Verify a student's algorithm, time it, and print a grade sheet as JSON. The exit status is 1 if it is wrong."""
    import json

    from timpani.cli.terminal.share_bar import share_bar
    from timpani.course.assignment import read_assignment
    from timpani.course.assignment_folder import check_algorithms, check_study, discussion_words, open_todos
    from timpani.course.grading import Verified, grade_sheet, measured_points, simulated_points, verify_student
    from timpani.libraries.find import first_mpi
    from timpani.native.build import build_without_mpi
    from timpani.native.sources import with_algorithms
    from timpani.providers.own import read_own_catalogue

    assignment = read_assignment(folder)
    study = check_study(folder, assignment)
    campaign, points = None, []
    with with_algorithms(check_algorithms(folder, assignment)):
        try:
            programs = build_without_mpi(first_mpi())
            own = read_own_catalogue(programs)
            with share_bar("verifying") as passed:
                verified = verify_student(assignment, programs, own, folder, passed)
            if on and verified.mistake is None:
                campaign = _measured(study, on, oversubscribe)
                points = measured_points(assignment, campaign)
            elif verified.mistake is None:
                points = simulated_points(assignment, programs, own)
        except AlgorithmError as error:  # a wrong algorithm has a grade sheet, too
            verified = Verified(0, error.what, None)
    words, todos = discussion_words(folder), open_todos(folder, assignment)
    typer.echo(json.dumps(grade_sheet(assignment, verified, points, campaign, todos, words), indent=1))
    raise typer.Exit(0 if verified.mistake is None else 1)


def _measured(study: Path, on: str, oversubscribe: bool) -> "Campaign":
    """The campaign of the study on a machine, measured or continued in the folder of its file."""
    from timpani.campaign.folder.load import load
    from timpani.campaign.run.session import Session
    from timpani.cli.terminal.measuring import measure_or_exit
    from timpani.machine.where import resolve
    from timpani.study.study import read_study

    session = Session.prepare(read_study(study), None, oversubscribe, resolve(on))
    into = study.parent / "measured"
    measure_or_exit(session, into, None, lambda place: f"measure them into another folder than {place}")
    return load(into)
