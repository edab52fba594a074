"""Confirm a tuned folder or a variant on a user's program, and take out the rules that make it slower."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from timpani.cli.terminal.confirming import rewrite, table_and_campaign
from timpani.cli.terminal.named_campaigns import folder_of_today
from timpani.native.mpi import Mpi
from timpani.programs.block_runs import BlockRuns, Choice, ComparedOutput, ProgramComparison
from timpani.programs.pages.comparison_text import comparison_lines, taken_out_lines
from timpani.programs.preloaded_command import library_of
from timpani.programs.switched_choice import choice_of, choice_of_variant, slower_collectives, without_slower
from timpani.study.words import counted
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
