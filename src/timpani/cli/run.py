"""`timpani run`: measure a study or the operations named."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.campaign.run.batch_jobs import JobStep, launches_of_job
from timpani.campaign.run.prove import shown_cells
from timpani.campaign.run.session import Place
from timpani.cli.job import asks_for_job, run_in_jobs, typed_words
from timpani.cli.terminal.completing import complete_campaign, complete_what
from timpani.cli.terminal.measuring import matrix_blocks, print_ending, print_plan
from timpani.cli.terminal.named_campaigns import folder_of_today
from timpani.cli.terminal.options import (
    PROGRAM_STUDY,
    For,
    StudyOptions,
    WhereOptions,
    expand,
    library_of_program,
    output_option,
    study_options,
)
from timpani.cli.terminal.progress import progress
from timpani.errors import UserError
from timpani.report import runnable_study
from timpani.report.document.text import text_of
from timpani.study.compose import compose, left_out_of_plan
from timpani.study.keys import FURTHER, WHAT, WHERE
from timpani.study.study import Study
from timpani.study.values import parse_duration

EXAMPLES = """Examples:

timpani run demo

timpani run bcast allreduce --ranks 2,4,8 --sizes 1:1M -o mine

timpani run bcast --algorithms default,binomial,timpani/circulant --launches 8

timpani run latency bandwidth --on lab"""


@dataclass(frozen=True)
class _PlaceOptions(WhereOptions):
    """Where to measure, with which library and on which of the machine's nodes."""

    mpi: Annotated[
        list[str] | None,
        typer.Option(
            help="openmpi, mpich, intel, or a path (`timpani list mpis`). Repeat the option to compare others "
            "with the first.",
            show_default="the first found",
            rich_help_panel=WHERE,
        ),
    ] = None
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--variants",
            help="components or transports: compare all that the library has and that start here, each as a variant.",
            show_default="none",
            rich_help_panel=WHAT,
        ),
    ] = None
    hosts: Annotated[
        Path | None,
        typer.Option(
            help="A host file: use only these nodes of the machine.", show_default="all of them", rich_help_panel=WHERE
        ),
    ] = None


_option = partial(typer.Option, rich_help_panel=FURTHER)


@dataclass(frozen=True)
class _Further:
    """Options for further or other work of `timpani run`."""

    prove: Annotated[bool, _option("--prove", help="Count each cell's messages in one more, untimed call.")] = False
    show_matrix: Annotated[
        bool, _option("--show-matrix", help="Print a small transpose's matrix before and after.")
    ] = False
    dry_run: Annotated[bool, _option("--dry-run", help="Print cells, launches, time and commands; stop.")] = False
    hang_after: Annotated[
        str | None, _option(help="Silence after which a launch counts as hung.", show_default="30s at least")
    ] = None


_CoveredBy = Annotated[
    list[Path] | None,
    typer.Option(
        "--covered-by",
        metavar="CAMPAIGN",
        help="With --for: leave out what this campaign measured. Repeat the option for several.",
        autocompletion=complete_campaign,
    ),
]


@expand(study=study_options(), place=_PlaceOptions, further=_Further)
def run(
    *,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="A study (`timpani list studies`, or a file), or operations: bcast scatter latency …",
            autocompletion=complete_what,
        ),
    ] = None,
    program: For = None,
    covered_by: _CoveredBy = None,
    output: Annotated[
        Path | None,
        output_option("The campaign's folder; the same command continues it.", "named after the study and the day"),
    ] = None,
    study: StudyOptions,
    place: _PlaceOptions,
    further: _Further,
) -> None:
    """Measure a study or operations, and print where the default is fine or another algorithm is faster."""
    if (what is None) == (program is None):
        raise UserError("name either what to measure, or a profile with --for", "for example: timpani run demo")
    if covered_by and program is None:
        raise UserError("--covered-by leaves out calls of a profile, and no profile is named", "name one with --for")
    study_of = partial(_study, what, program, covered_by or (), not further.dry_run)
    folder = output or folder_of_today(what or [program.name if program else ""])
    options = study.given()
    if place.on and asks_for_job(place.on):
        added = [] if output else ["-o", str(folder)]  # of today, whenever the job runs
        study_of(options)  # what is wrong shows now, and not in the job
        launches = launches_of_job(place.on, options.get("launches"))
        run_in_jobs(place.on, further.dry_run, [JobStep(typed_words(added), folder, launches)])
        return
    timeout = parse_duration(further.hang_after) if further.hang_after else None
    same = library_of_program(program, place.on)
    named = Place(place.on, place.mpi or ([same] if same else []), place.oversubscribe, place.hosts, place.groups or ())
    session = named.prepare(study_of, options, partial(typer.echo, err=True), starts=not further.dry_run)
    if further.dry_run:
        for line in left_out_of_plan(what or []):
            typer.echo(line, err=True)
        print_plan(session.plan)
        return
    shown = shown_cells(session.plan) if further.show_matrix else []
    if output is None:
        typer.echo(f"measuring into {folder}", err=True)
    outcome = session.complete(folder, progress, (lambda cell: True) if further.prove else None, timeout)
    if shown and outcome.ended == "complete":
        typer.echo(text_of([*matrix_blocks(session.matrices(folder, progress, shown))]), nl=False)
    raise typer.Exit(print_ending(folder, outcome, session.stopped))


def _study(
    what: list[str] | None,
    program: Path | None,
    covered_by: Sequence[Path],
    with_code: bool,
    options: dict[str, Any],
) -> Study:
    """The study of `what`, or of what a profiled program calls but for what the campaigns `covered_by` measured.

    with_code  whether it is started, and not only planned
    """
    if program:
        return runnable_study([], PROGRAM_STUDY.only("--for")(program, options, covered_by))
    return runnable_study(what or [], compose(what or [], options, with_code=with_code))
