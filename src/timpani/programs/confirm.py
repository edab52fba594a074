"""Confirm a tuned folder or a variant on a user's program, and take out the rules that make it slower."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.cli.terminal.forms import Form
from timpani.cli.terminal.named_campaigns import folder_of_today
from timpani.cli.terminal.options import output_option
from timpani.errors import UserError
from timpani.native.mpi import Mpi
from timpani.programs.pages.comparison_text import comparison_lines, taken_out_lines
from timpani.programs.runs.block_runs import BlockRuns, Choice, ComparedOutput, ProgramComparison, judge_words
from timpani.programs.runs.preloaded_command import library_of
from timpani.programs.runs.switched_choice import choice_of, choice_of_variant, slower_collectives, without_slower
from timpani.study.defaults import MIN_BLOCKS
from timpani.study.words import counted
from timpani.tune.confirming import ConfirmedFrom, rewrite, table_and_campaign
from timpani.tune.table_file import TABLE_FILE, read_table
from timpani.tune.workflow import MAX_ROUNDS, files_of


@dataclass(frozen=True)
class ProgramRequest:
    """A program, and how it is compared with itself.

    runs    of each side
    output  that all runs should have; None: outputs are not compared
    mpi     the program's library; None: the launcher's
    """

    command: Sequence[str]
    runs: int
    output: ComparedOutput | None = None
    mpi: str | None = None


def confirm_files(folder: Path, campaigns: list[Path], request: ProgramRequest) -> int:
    """Compare a program as it is with the program under the files of `folder`; the exit status.

    Rules that make the program slower are taken out, and the remaining rules are confirmed again.

    campaigns  from which the rules were chosen; none: those that their table names
    """
    library = library_of(request.command, request.mpi)
    for _ in range(MAX_ROUNDS):
        choice = choice_of(folder, library)
        table = read_table(folder / TABLE_FILE)
        setting = "-and-setting" if table.setting else ""  # each round has less than the one before
        found = _compared(folder / f"program-of-{len(table.for_files().rules)}{setting}", choice, request)
        if found.wall.standing != "slower":
            return int(bool(found.different_outputs))
        if not _take_out(folder, campaigns, library, found):
            typer.echo("no rule is left: the library chooses as before")
            return 1
    typer.echo(f"rules were taken out in {MAX_ROUNDS} rounds: the same command confirms those that are left")
    return 1


def confirm_variant(variant: str, output: Path | None, request: ProgramRequest) -> int:
    """Compare a program as it is with the program under a variant's settings; the exit status.

    output  the folder of the runs; None: named after the variant, the program and the day
    """
    choice = choice_of_variant(variant, library_of(request.command, request.mpi))
    folder = output or folder_of_today([variant.partition(":")[0].strip()])
    found = _compared(folder, choice, request)
    return int(found.wall.standing == "slower" or bool(found.different_outputs))


def _compared(folder: Path, choice: Choice, request: ProgramRequest) -> ProgramComparison:
    """Run both sides in blocks into `folder`, and print what they show."""
    blocks = BlockRuns(folder, request.command, choice, request.output, request.mpi)
    kept = f", which has {counted(len(blocks.runs), 'run')}" if blocks.runs else ""
    typer.echo(f"runs are kept in {folder}{kept}", err=True)
    for run in blocks.complete(request.runs):
        typer.echo(f"block {run.block} of {request.runs}, {run.side}: {run.seconds:.3f} s", err=True)
    found = blocks.comparison()
    for line in comparison_lines(found):
        typer.echo(line)
    return found


def _take_out(folder: Path, campaigns: list[Path], library: Mpi, found: ProgramComparison) -> bool:
    """Write the files of `folder` without the rules that made the program slower; whether anything is left."""
    table, _, known = table_and_campaign(folder, campaigns)
    slower = slower_collectives(found, table)
    remaining = without_slower(table, slower)
    files = files_of(remaining, library, folder)
    rewrite(remaining, files, library, folder, known)
    for line in taken_out_lines(table, slower, found):
        typer.echo(line)
    return bool(files.settings or files.preload_rules)


_option = partial(typer.Option, rich_help_panel="With a program")


@dataclass(frozen=True)
class _ProgramRuns:
    """How a program is confirmed, as typed."""

    command: Annotated[
        list[str] | None,
        typer.Argument(help="After `--`: a program on which the files are confirmed: mpirun … ./program."),
    ] = None
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
            "With a program",
        ),
    ] = None


def _confirm(folder: Path, program: _ProgramRuns, source: ConfirmedFrom) -> None:
    """Confirm files or a variant on a program; with a variant `folder` is the program's first word."""
    if program.judge is not None and program.same_output is None:
        raise UserError("--judge has no output to judge", "name it: --same-output FILE, or - for what is printed")
    judge = judge_words(program.judge) if program.judge is not None else ()
    output = ComparedOutput(program.same_output, judge) if program.same_output else None
    command, runs = program.command or [], program.runs or MIN_BLOCKS
    if program.variant is not None:
        if source.campaign:
            raise UserError("--campaign is for rules, and --variant has none", "leave --campaign out")
        request = ProgramRequest([str(folder), *command], runs, output, source.mpi)
        raise typer.Exit(confirm_variant(program.variant, program.output, request))
    if not command:
        raise UserError("no program is named on which the files are confirmed", "name it after `--`")
    if program.output:
        raise UserError("--output is for --variant", f"runs are kept in {folder}")
    raise typer.Exit(confirm_files(folder, source.campaign or [], ProgramRequest(command, runs, output, source.mpi)))


def _applies(_: Path, typed: Any) -> bool:
    return any(getattr(typed, each.name) != each.default for each in fields(_ProgramRuns))


CONFIRM = Form("a program", _applies, (_ProgramRuns, ConfirmedFrom), _confirm)
