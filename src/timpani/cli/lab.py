"""`timpani lab`: a cluster inside this machine."""

import json
import os
from typing import Annotated

import typer

from timpani.cli.terminal.options import Format, format_option
from timpani.errors import UserError, unknown
from timpani.machine.lab.lab import (
    Lab,
    Layout,
    check_programs,
    choose_lab,
    choose_whole_lab,
    labs,
    parse_rate,
    show_rate,
)
from timpani.machine.lab.make import PARTITION, check_root
from timpani.machine.lab.make import down as take_down
from timpani.machine.lab.make import up as make
from timpani.study.words import counted

app = typer.Typer(no_args_is_help=True)

MEANING = """\
It shows: who sends how much over which link; whether programs are right across hosts; times limited by a slow link.
It doesn't show: latency, or times limited by processors. All nodes share this machine's cores."""


@app.callback()
def lab() -> None:
    """A cluster inside this machine, for tests and lessons."""


@app.command()
def up(
    nodes: Annotated[int, typer.Option(min=1, max=250, help="Nodes in all.")] = 4,
    cores: Annotated[int, typer.Option(min=1, max=1024, help="Cores of each node.")] = 2,
    groups: Annotated[int, typer.Option(min=1, help="Switches among which the nodes are divided.")] = 1,
    link: Annotated[
        str, typer.Option(help="Rate of each node's link: 1gbit; from the first to the last node 900mbit:1gbit.")
    ] = "1gbit",
    uplink: Annotated[
        str | None, typer.Option(help="Rate between a group's switch and the others; by default the link's.")
    ] = None,
    slurm: Annotated[bool, typer.Option("--slurm", help="Run Slurm in it.")] = False,
) -> None:
    """Make a lab; root only. Remains of labs whose commands were killed are removed."""
    if groups > nodes:
        raise UserError(f"{nodes} nodes can't make {groups} groups", "ask for fewer groups or more nodes")
    if uplink and groups == 1:
        raise UserError("one group has no uplink", "ask for --groups 2, or leave out --uplink")
    rate, *last = map(parse_rate, link.split(":", 1))
    layout = Layout(
        nodes=nodes,
        cores=cores,
        groups=groups,
        link=rate,
        last_link=last[0] if last else None,
        uplink=parse_rate(uplink) if uplink else rate,
        slurm=slurm,
    )
    check_root()
    check_programs(slurm)
    made = make(layout)
    typer.echo("\n".join(_description(made, layout)))
    typer.echo(MEANING)


@app.command()
def status(
    format: Annotated[Format, format_option("How to print the labs.", Format.text, Format.json)] = Format.text,
) -> None:
    """List the labs."""
    found = labs()
    if format is Format.json:
        rows = [{"lab": each.id, "whole": each.whole, **_facts(each)} for each in found]
        typer.echo(json.dumps(rows, indent=2))
    elif not found:
        typer.echo("there is no lab on this machine; `timpani lab up` makes one")
    else:
        for each in found:
            if each.layout is not None and each.whole:
                typer.echo("\n".join(_description(each, each.layout)))
            else:
                typer.echo(f"lab {each.id}: not whole; `timpani lab down {each.id}` cleans up")
        typer.echo(MEANING)


@app.command("exec")
def exec_(
    node: Annotated[str, typer.Argument(help="The node: n1.")],
    command: Annotated[list[str], typer.Argument(help="The command, after `--`.")],
    name: Annotated[str | None, typer.Option("--lab", help="Which lab, if there are several.")] = None,
) -> None:
    """Run a command on a node: `timpani lab exec n1 -- hostname`; root only."""
    check_root()
    chosen, layout = choose_whole_lab(name)
    names = [member.name for member in layout.members]
    if node not in names:
        raise unknown("node", node, names, "timpani lab status")
    argv = chosen.enter(node, tuple(command))
    os.execv(argv[0], argv)  # noqa: S606 - the command replaces this process


@app.command()
def down(
    name: Annotated[str | None, typer.Argument(help="Which lab, if there are several.")] = None,
) -> None:
    """End all processes in a lab and remove it; root only."""
    check_root()
    chosen = choose_lab(name)
    take_down(chosen)
    typer.echo(f"lab {chosen.id} is gone")


def _description(made: Lab, layout: Layout) -> list[str]:
    extras = [f"links of {layout.shown_links}"]
    extras += [f"uplinks of {show_rate(layout.uplink)}"] if layout.groups > 1 else []
    extras += ["Slurm"] if layout.slurm else []
    return [
        f"lab {made.id}: {counted(layout.nodes, 'node')} of {counted(layout.cores, 'core')}, {', '.join(extras)}",
        *(
            f"  switch g{number}: {', '.join(f'{node.name} ({node.address})' for node in layout.group(number))}"
            for number in range(1, layout.groups + 1)
        ),
        *(_reach_slurm(made, layout) if layout.slurm else ()),
    ]


def _reach_slurm(made: Lab, layout: Layout) -> list[str]:
    """How Slurm's commands and jobs of Timpani's are started: they work on the nodes alone."""
    enter = f"timpani lab exec --lab {made.id} {layout.members[0].name} --"
    place = f"slurm:{PARTITION},nodes={layout.nodes},tasks={layout.cores}"
    return [
        f"  Slurm, from the nodes only: {enter} sinfo",
        f"  a job: {enter} timpani run bcast --ranks {layout.nodes * layout.cores} --on {place} -o by-slurm",
    ]


def _facts(each: Lab) -> dict[str, object]:
    if each.layout is None:
        return {}
    return {
        **each.layout.model_dump(exclude={"lab"}),
        "members": [{"name": node.name, "group": node.group, "address": node.address} for node in each.layout.members],
    }
