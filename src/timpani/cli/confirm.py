"""`timpani confirm`: whether tuning files keep their promise, measured anew."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.cli.job import asks_for_job, run_as_job
from timpani.cli.terminal.completing import complete_campaign, complete_tuned
from timpani.cli.terminal.confirming import confirm_folder, table_and_campaign
from timpani.cli.terminal.confirming_program import ProgramRequest, confirm_files, confirm_variant
from timpani.cli.terminal.options import DryRun, FailOn, StudyOptions, expand, on_option, output_option, study_options
from timpani.errors import UserError
from timpani.machine.where import resolve
from timpani.programs.block_runs import ComparedOutput, judge_words
from timpani.report.words.dry_run import plan_lines
from timpani.study.defaults import MIN_BLOCKS
from timpani.study.placement import check_placement
from timpani.study.values import parse_duration
from timpani.tune.confirmation_study import confirmation_study
from timpani.tune.workflow import ConfirmRequest, TimeBudget, prepare_confirmation
from timpani.tuning.decide.changes import ChangeLimit

_PANEL = "With a program"
_option = partial(typer.Option, rich_help_panel=_PANEL)


@dataclass(frozen=True)
class ProgramRuns:
    """How a program is confirmed, as typed."""

    runs: Annotated[
        int | None,
        _option(
            min=1,
            help=f"Number of runs with the files, and of runs without them; a verdict takes {MIN_BLOCKS}.",
            show_default=str(MIN_BLOCKS),
        ),
    ] = None
    same_output: Annotated[
        Path | None,
        _option(
            help="A file that the program writes, or `-` for what it prints: this output must be the same in all runs."
        ),
    ] = None
    judge: Annotated[
        str | None,
        _option(
            metavar="COMMAND",
            help="With --same-output: a command that gets two outputs as its last words, and ends with status 0 if "
            "they are the same and 1 if not.",
            show_default="the same bytes",
        ),
    ] = None
    variant: Annotated[
        str | None,
        _option(metavar="NAME: SETTINGS", help="In place of FOLDER: settings as `timpani run --variant` takes them."),
    ] = None
    output: Annotated[
        Path | None,
        output_option(
            "With --variant: the folder of the runs; the same command continues there.",
            "named after the variant and the day",
            _PANEL,
        ),
    ] = None


@expand(
    study=study_options(
        ("launches", "placement", "budget"),
        panel="How it is measured",
        shown={"launches": "the campaign's, 10 or more", "placement": "as the rules were measured", "budget": "none"},
    ),
    program=ProgramRuns,
)
def confirm(
    *,
    folder: Annotated[Path, typer.Argument(help="What `timpani tune` wrote.", autocompletion=complete_tuned)],
    command: Annotated[
        list[str] | None,
        typer.Argument(help="After `--`: a program on which the files are confirmed: mpirun … ./program."),
    ] = None,
    study: StudyOptions,
    program: ProgramRuns,
    campaign: Annotated[
        list[Path] | None,
        typer.Option(
            help="A campaign from which the rules were chosen.",
            show_default="where it was then",
            autocompletion=complete_campaign,
        ),
    ] = None,
    mpi: Annotated[str | None, typer.Option(help="The library, if it isn't found automatically.")] = None,
    on: Annotated[str | None, on_option("where the rules were measured")] = None,
    dry_run: DryRun = False,
    fail_on: FailOn = None,
) -> None:
    """Measure again what tuning files gain: at the measured sizes, where rules begin and end, and in between.

    Rules that lose are removed from the files, and the remaining rules are confirmed again. The same command continues
    where it was stopped. The exit status is 1 if no rule is left, if cells were abandoned, or if a point of any round
    changed as `--fail-on` describes.

    A program after `--` is run without and with the files, in random order. If it is slower with them, the rules that
    made it slower are removed, and the remaining rules are confirmed again. The exit status is 1 if the
    program was slower in the last round, or its output differs. `timpani confirm --variant 'NAME: SETTINGS' -- mpirun …
    ./program` runs it without and with settings.
    """
    given = study.given()
    if command or program.variant:
        if given or on or dry_run or fail_on is not None:
            raise UserError(
                "a program is confirmed with --runs, --same-output, --judge, --campaign and --mpi alone",
                "leave the rest out",
            )
        raise typer.Exit(_confirm_program(folder, command or [], program, campaign or [], mpi))
    if program != ProgramRuns():
        raise UserError("--runs, --same-output, --judge and --output are for a program", "name it after `--`")
    limit = ChangeLimit.parse(fail_on) if fail_on is not None else None
    _confirm_calls(folder, given, campaign or [], mpi, on, dry_run, limit)


def _confirm_program(first: Path, rest: list[str], program: ProgramRuns, campaigns: list[Path], mpi: str | None) -> int:
    """Confirm files or a variant on a program; with a variant `first` is the program's first word, and no folder."""
    if program.judge is not None and program.same_output is None:
        raise UserError("--judge has no output to judge", "name it: --same-output FILE, or - for what is printed")
    judge = judge_words(program.judge) if program.judge is not None else ()
    output = ComparedOutput(program.same_output, judge) if program.same_output else None
    runs = program.runs or MIN_BLOCKS
    if program.variant is not None:
        if campaigns:
            raise UserError("--campaign is for rules, and --variant has none", "leave --campaign out")
        return confirm_variant(program.variant, program.output, ProgramRequest([str(first), *rest], runs, output, mpi))
    if program.output:
        raise UserError("--output is for --variant", f"runs are kept in {first}")
    return confirm_files(first, campaigns, ProgramRequest(rest, runs, output, mpi))


def _confirm_calls(
    folder: Path,
    given: Mapping[str, Any],
    campaign: list[Path],
    mpi: str | None,
    on: str | None,
    dry_run: bool,
    limit: ChangeLimit | None,
) -> None:
    """Confirm the files in `folder` by measuring calls, here or in a job; `given` are options of the study."""
    request = ConfirmRequest(
        given.get("launches"),
        mpi,
        placement=check_placement(given["placement"]) if "placement" in given else None,
        budget=TimeBudget(parse_duration(given["budget"]) if "budget" in given else None),
    )
    if on and asks_for_job(on):
        table, made_from, _ = table_and_campaign(folder, campaign)
        confirmation_study(table, made_from, folder, request.launches, request.placement)  # before the job waits
        run_as_job(on, dry_run)
        return
    request = replace(request, machine=resolve(on, mpi) if on else None)
    if dry_run:
        table, made_from, _ = table_and_campaign(folder, campaign)
        session, _ = prepare_confirmation(table, made_from, folder, request)
        typer.echo("\n".join(plan_lines(session.plan)))
        return
    confirm_folder(folder, campaign, request, limit)
