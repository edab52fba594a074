"""`timpani rules`: where Timpani's algorithms should replace the library's, for `timpani preload`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.completing import complete_campaign
from timpani.cli.terminal.options import Force


def rules(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A campaign that measured the default and Timpani's algorithms.",
            show_default=False,
            autocompletion=complete_campaign,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The new file.", show_default=False)],
    force: Force = False,
) -> None:
    """Write a rule wherever one of Timpani's algorithms was significantly faster than the library's default."""
    from timpani.campaign.folder.load import load_one_machine
    from timpani.campaign.read.context import rank_layouts
    from timpani.errors import UserError
    from timpani.report.tuned.source_warnings import made_from
    from timpani.report.words.output_files import write_file
    from timpani.study.cell import OWN
    from timpani.study.counted import counted
    from timpani.tuning.decide.choose_rules import select
    from timpani.tuning.decide.replacements import rules_text, warnings
    from timpani.tuning.decide.selection_table import SIMULATED

    campaign = load_one_machine(folder)
    found = select(campaign.of_variant().raced, rank_layouts(campaign), OWN).rules
    if not found:
        raise UserError(
            f"{folder} has no point at which an algorithm of Timpani's own is significantly faster than the default "
            "and the nodes of the ranks are known",
            "measure default and timpani/… at more sizes, with more launches, or on a machine (--on)",
        )
    mpi = campaign.header.mpi
    simulated = campaign.simulated
    about = [f"from {folder.name}: {mpi.kind} {mpi.version} on {campaign.results['machine'][0]}"]
    costs = warnings(found)
    write_file(output, rules_text(found, [SIMULATED] * simulated + about + costs).encode(), force)
    for warning in made_from([folder], campaign).warnings:
        typer.echo(f"Warning: {warning}", err=True)
    typer.echo(f"{output}: {counted(len(found), 'rule')}")
    for cost in costs:
        typer.echo(f"Warning: {cost}; `timpani run … --rules` measures what that costs", err=True)
    typer.echo(f"use them: timpani preload --rules {shlex.quote(str(output))} -- mpirun …")
    if simulated:
        typer.echo(f"{SIMULATED}: no real machine was timed, so measure before you rely on these rules")
