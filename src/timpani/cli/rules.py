"""`timpani rules`: where another algorithm should replace the library's choice, for `timpani preload`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from timpani.cli.terminal.options import Force, campaign_argument, output_option
from timpani.errors import UserError

if TYPE_CHECKING:
    from timpani.campaign.folder.load import Campaign


def rules(
    folder: Annotated[Path, campaign_argument("A campaign that measured the default and other algorithms.")],
    output: Annotated[Path, output_option("The new file.")],
    of_library: Annotated[
        bool, typer.Option("--library", help="Choose among the library's algorithms, not Timpani's.")
    ] = False,
    mpi: Annotated[
        str | None,
        typer.Option(help="The campaign's library, for --library.", show_default="the first found of its kind"),
    ] = None,
    force: Force = False,
) -> None:
    """Write rules for the points at which another algorithm was significantly faster than the library's default.

    For a merged campaign, a point gets a rule only if one of Timpani's algorithms was significantly faster on every
    machine.
    """
    from timpani.campaign.folder.load import load, load_one_machine
    from timpani.report.tuned.source_warnings import made_from
    from timpani.report.words.output_files import write_file
    from timpani.study.selection import SIMULATED
    from timpani.study.words import counted
    from timpani.tuning.decide.replacements import rules_text

    campaign = load_one_machine(folder) if of_library else load(folder)
    lines, costs = _of_library(campaign, mpi) if of_library else _of_timpani(campaign)
    if not lines:
        raise UserError(
            f"{folder} has no point at which an algorithm of {'the library' if of_library else 'Timpani'} is "
            "significantly faster than the default and the nodes of the ranks are known",
            f"measure default and {'others' if of_library else 'timpani/…'} at more sizes, with more launches, or on a "
            "machine (--on)",
        )
    simulated = campaign.simulated
    measured = {name: each.header.mpi for name, each in campaign.by_machine().items()}
    about = [f"from {folder.name}: {mpi.title} on {name}" for name, mpi in measured.items()]
    write_file(output, rules_text(lines, [SIMULATED] * simulated + about + costs).encode(), force)
    for warning in made_from([folder], campaign).warnings:
        typer.echo(f"Warning: {warning}", err=True)
    typer.echo(f"{output}: {counted(len(lines), 'rule')}")
    for cost in costs:
        typer.echo(f"Warning: {cost}; `timpani run … --rules` measures what that costs", err=True)
    typer.echo(f"use them: timpani preload --rules {shlex.quote(str(output))} -- mpirun …")
    if simulated:
        typer.echo(f"{SIMULATED}: no real machine was timed, so measure before you rely on these rules")


def _of_timpani(campaign: "Campaign") -> tuple[list[str], list[str]]:
    """The lines of rules for Timpani's algorithms, and what they cost calls that they do not replace."""
    from timpani.campaign.read.context import machine_layouts
    from timpani.study.cell import OWN
    from timpani.tuning.decide.choose_rules import select
    from timpani.tuning.decide.replacements import rule_line, warnings

    found = select(campaign.of_variant().raced, machine_layouts(campaign), OWN).rules
    return [rule_line(rule, rule.algorithm.plain) for rule in found], warnings(found)


def _of_library(campaign: "Campaign", mpi: str | None) -> tuple[list[str], list[str]]:
    """The same for the library's algorithms; says which can't be chosen call by call."""
    from timpani.rules.table.library_choices import library_choices

    lines, costs, left_out = library_choices(campaign, mpi)
    for rule in left_out:
        typer.echo(f"left out: {rule.collective} {rule.algorithm}: only a whole launch can be set to it", err=True)
    return lines, costs
