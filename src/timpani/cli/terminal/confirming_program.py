"""Confirm a tuned folder or a variant on a user's program."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from timpani.programs.block_runs import Choice, ProgramComparison
    from timpani.programs.compared_output import ComparedOutput


@dataclass(frozen=True)
class ProgramRequest:
    """A program, and how it is compared with itself.

    runs    of each side
    output  that all runs should have; None: outputs are not compared
    mpi     the program's library; None: the launcher's
    """

    command: Sequence[str]
    runs: int
    output: "ComparedOutput | None" = None
    mpi: str | None = None


def confirm_files(folder: Path, request: ProgramRequest) -> int:
    """Compare a program as it is with the program under the files of `folder`; the exit status."""
    from timpani.programs.preloaded_command import library_of
    from timpani.programs.switched_choice import choice_of

    choice = choice_of(folder, library_of(request.command, request.mpi))
    return _status(_compared(folder / "program", choice, request))


def confirm_variant(variant: str, output: Path | None, request: ProgramRequest) -> int:
    """Compare a program as it is with the program under a variant's settings; the exit status.

    output  the folder of the runs; None: named after the variant, the program and the day
    """
    from timpani.cli.terminal.composed_study import folder_of_today
    from timpani.programs.preloaded_command import library_of
    from timpani.programs.variant_choice import choice_of_variant

    choice = choice_of_variant(variant, library_of(request.command, request.mpi))
    folder = output or folder_of_today([variant.partition(":")[0].strip()])
    return _status(_compared(folder, choice, request))


def _compared(folder: Path, choice: "Choice", request: ProgramRequest) -> "ProgramComparison":
    """Run both sides in blocks into `folder`, and print what they show."""
    from timpani.programs.block_runs import BlockRuns
    from timpani.report.profiled.comparison_text import comparison_lines
    from timpani.study.counted import counted

    blocks = BlockRuns(folder, request.command, choice, request.output, request.mpi)
    kept = counted(len(blocks.runs), "run") if blocks.runs else "runs"
    typer.echo(f"{kept} are kept in {folder}", err=True)
    for run in blocks.complete(request.runs):
        typer.echo(f"block {run.block} of {request.runs}, {run.side}: {run.seconds:.3f} s", err=True)
    found = blocks.comparison()
    for line in comparison_lines(found):
        typer.echo(line)
    return found


def _status(found: "ProgramComparison") -> int:
    return int(found.wall.standing == "slower" or bool(found.different_outputs))
