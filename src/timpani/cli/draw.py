"""`timpani draw`: the messages of one of Timpani's algorithms, as a figure, a trace or GOAL text."""

from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.completing import complete_own_algorithm
from timpani.cli.terminal.options import FigureOptions, Force, expand, output_option
from timpani.errors import UserError


@expand(style=FigureOptions)
def draw(
    *,
    name: Annotated[
        str,
        typer.Argument(
            help="A Timpani algorithm, COLLECTIVE/NAME[:parameter=value,…]: bcast/knomial:radix=4.",
            autocompletion=complete_own_algorithm,
        ),
    ],
    output: Annotated[
        Path, output_option("A new .svg, .png or .pdf file; .json: a trace for Perfetto; .goal: for LogGOPSim.")
    ],
    format: Annotated[
        str | None, typer.Option(help="svg, png, pdf, json or goal, whatever the file's suffix says.")
    ] = None,
    ranks: Annotated[int, typer.Option(help="Rank count; up to 4096 but for goal.", min=1, max=1 << 20)] = 16,
    size: Annotated[str, typer.Option(help="Bytes, as `timpani run --sizes` counts them.")] = "1Mi",
    root: Annotated[int, typer.Option(help="Root of collectives that have one.", min=0)] = 0,
    nodes: Annotated[
        int | None, typer.Option(help="Nodes, for algorithms that depend on which ranks share one.", min=1)
    ] = None,
    groups: Annotated[int, typer.Option(help="Groups of nodes, all of one size.", min=1)] = 1,
    by: Annotated[
        str, typer.Option(help="core: ranks fill one node after the other; node: round robin over nodes.")
    ] = "core",
    timeline: Annotated[
        bool, typer.Option("--timeline", help="Draw when each message is sent; a message takes one tick.")
    ] = False,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Draw how much each rank sends to each other, even for a tree.")
    ] = (False),
    style: FigureOptions,
    force: Force = False,
) -> None:
    """Draw one of Timpani's algorithms: its tree, or which rank sends to which; or a time line, a trace, GOAL text."""
    from timpani.libraries.find import first_mpi
    from timpani.native.build import build_without_mpi
    from timpani.providers.own import own_catalogue
    from timpani.report.words.drawing import Drawing, View, equal_nodes
    from timpani.schedules.simulation import Simulator
    from timpani.study.sizes import parse_size

    if not nodes and (groups, by) != (1, "core"):
        raise UserError("--groups and --by need nodes", "say how many: --nodes 4")
    mpi = first_mpi()
    where = equal_nodes(ranks, nodes, groups, by) if nodes else None
    drawing = Drawing.from_name(name, own_catalogue(mpi), ranks, parse_size(size), root, where)
    view = View.timeline if timeline else View.matrix if matrix else View.tree
    typer.echo(drawing.write(Simulator(build_without_mpi(mpi)), view, output, force, format, style.chosen()))
