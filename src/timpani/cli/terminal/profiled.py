"""What commands print that measure for a program: what is left out, and what it is expected to gain."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from timpani.programs.block_runs import Choice
    from timpani.programs.profile_folder import ProgramProfile
    from timpani.programs.savings import Savings
    from timpani.study.study import Study


def study_for(profile: Path, options: Mapping[str, object], covered_by: Sequence[Path] = ()) -> "Study":
    """The study of what the program of `profile` calls; standard error names what it leaves out.

    covered_by  campaigns whose points are not measured again
    """
    from timpani.programs.lateness import lateness_advice
    from timpani.programs.profile_folder import read_profile
    from timpani.programs.profiled_study import profiled_study

    read = read_profile(profile)
    covered = [each.point for each in savings_of(read, covered_by).covered] if covered_by else []
    found = profiled_study(read.main_part, options, covered)
    for text in found.left_out:
        typer.echo(f"left out: {text}", err=True)
    for text in lateness_advice(read.main_part, found.points, found.study.arrival):
        typer.echo(f"note: {text}", err=True)
    return found.study


def savings_of(profile: "ProgramProfile", campaigns: Sequence[Path]) -> "Savings":
    """What the algorithms measured in `campaigns` are expected to save the program of `profile`."""
    from timpani.campaign.folder.load import load_one_machine
    from timpani.programs.savings import expected_savings

    return expected_savings(profile, [load_one_machine(folder) for folder in campaigns])


def print_savings(profile: Path, campaigns: Sequence[Path]) -> None:
    """What the algorithms measured in `campaigns` are expected to save the program of `profile`."""
    from timpani.programs.profile_folder import read_profile
    from timpani.report.profiled.savings_text import savings_lines

    found = read_profile(profile)
    for line in savings_lines(found, savings_of(found, campaigns)):
        typer.echo(line)


def confirm_files(
    folder: Path, command: Sequence[str], runs: int, same_output: Path | None, mpi: str | None = None
) -> int:
    """Compare a program as it is with the program under the files of `folder`, as `_compared` does.

    mpi  the program's library; None: the launcher's
    """
    from timpani.programs.preloaded_command import library_of
    from timpani.programs.switched_choice import choice_of

    choice = choice_of(folder, library_of(command, mpi))
    return _compared(folder / "program", command, choice, runs, same_output, mpi)


def confirm_variant(
    variant: str,
    output: Path | None,
    command: Sequence[str],
    runs: int,
    same_output: Path | None,
    mpi: str | None = None,
) -> int:
    """Compare a program as it is with the program under a variant's settings, as `_compared` does.

    output  the folder of the runs; None: named after the variant, the program and the day
    mpi     the program's library; None: the launcher's
    """
    from timpani.cli.terminal.folder_of_today import folder_of_today
    from timpani.programs.preloaded_command import library_of
    from timpani.programs.variant_choice import choice_of_variant

    choice = choice_of_variant(variant, library_of(command, mpi))
    folder = output or folder_of_today([variant.partition(":")[0].strip()])
    typer.echo(f"runs are kept in {folder}", err=True)
    return _compared(folder, command, choice, runs, same_output, mpi)


def _compared(
    folder: Path, command: Sequence[str], choice: "Choice", runs: int, same_output: Path | None, mpi: str | None
) -> int:
    """Run both sides in blocks into `folder`; the exit status, 1 where the program is slower or its output differs."""
    from timpani.programs.block_runs import BlockRuns
    from timpani.report.profiled.comparison_text import comparison_lines

    blocks = BlockRuns(folder, command, choice, same_output, mpi)
    if blocks.runs:
        typer.echo(f"{len(blocks.runs)} runs are kept in {blocks.folder}", err=True)
    for run in blocks.complete(runs):
        typer.echo(f"block {run.block} of {runs}, {run.side}: {run.seconds:.3f} s", err=True)
    found = blocks.comparison()
    for line in comparison_lines(found):
        typer.echo(line)
    return int(found.wall.standing == "slower" or bool(found.different_outputs))
