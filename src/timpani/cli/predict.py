"""`timpani predict`: what our algorithms should take where nobody has measured."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.options import Force

_TOLD_SECONDS = 10
"""What takes longer is told beforehand."""


class Format(StrEnum):
    """How predictions are printed."""

    table = "table"
    json = "json"


def predict(
    what: Annotated[list[str], typer.Argument(help="Collectives: bcast allreduce …", show_default=False)],
    costs: Annotated[
        list[Path],
        typer.Option(help="A campaign that tells the costs, given several times for several.", show_default=False),
    ],
    ranks: Annotated[str, typer.Option("--ranks", "-n", help="Rank counts: 64,1Ki or 2:1Mi (doubling).")],
    algorithms: Annotated[
        str,
        typer.Option(
            help="`all`: ours, and the library's whose messages name a schedule; or a list: binomial,openmpi/knomial."
        ),
    ] = "all",
    sizes: Annotated[str, typer.Option(help="Bytes, as `timpani run --sizes` counts them.")] = "8:1Mi*8",
    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="A machine file of the machine to predict; without it the campaign's, or ranks as close as measured.",
            show_default=False,
        ),
    ] = None,
    placement: Annotated[str, typer.Option(help="Of ranks over its nodes: core, socket, node or ppr:N.")] = "core",
    budget: Annotated[str, typer.Option(help="What one call may take to simulate; more is refused.")] = "10s",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A new folder: page, figures, JSON.", show_default=False),
    ] = None,
    format: Annotated[
        Format, typer.Option(help="json has the keys of docs/how-to/predict-a-machine.md.")
    ] = Format.table,
    force: Force = False,
) -> None:
    """Predict algorithms from measured costs: which is fastest where, how long it takes, what that is made of."""
    import json

    from timpani.campaign.folder.load import load
    from timpani.cli.terminal.share_bar import share_bar
    from timpani.errors import UserError
    from timpani.libraries.find import first_mpi
    from timpani.machine.where import resolve
    from timpani.native.build import build
    from timpani.prediction.calibration import calibrated
    from timpani.prediction.library_algorithms import library_algorithms
    from timpani.prediction.predictions import predict_request
    from timpani.prediction.request import Limits, Request
    from timpani.prediction.selected_algorithms import asks_for_library, lacking, named_algorithms, of_library
    from timpani.providers.own import own_catalogue
    from timpani.providers.verification_cost import available_memory
    from timpani.report.predicted.prediction_output import check_new, predicted_object, predicted_text, write_predicted
    from timpani.report.words.durations import show_seconds
    from timpani.schedules.simulation import Simulator
    from timpani.study.counted import counted
    from timpani.study.placement import check_placement
    from timpani.study.sizes import RANK_COUNT, parse_sizes
    from timpani.study.study import parse_duration

    if output:
        check_new(output, force)
    rank_counts, message_sizes = parse_sizes(ranks, RANK_COUNT), parse_sizes(sizes)
    if min(rank_counts) < 1:
        raise UserError("a call has 1 rank or more, not 0", "write for example --ranks 64,1Ki")
    limits = Limits(parse_duration(budget), available_memory())
    campaigns = [load(folder) for folder in costs]
    machine = resolve(on) if on else campaigns[0].header.machine.cluster
    several = machine is not None and sum(len(group.nodes) for group in machine.groups) > 1
    mpi = first_mpi()
    simulator, own = Simulator(build(mpi)), own_catalogue(mpi)
    named = named_algorithms(what, algorithms, own)  # refuses what is mistyped before anything takes time
    calibration = calibrated(simulator, campaigns)
    library, others = (
        library_algorithms(campaigns, what, message_sizes, own, simulator, calibration)
        if asks_for_library(algorithms)
        else ([], [])
    )
    named += of_library(algorithms, library, others)
    request = Request(named, rank_counts, message_sizes, machine if on or several else None, check_placement(placement))
    with share_bar("estimating") as passed:
        plan = request.plan(simulator, calibration.costs, limits, passed)
    plan.left_out.extend(map(str, (*lacking(what, algorithms, own), *others)))
    if plan.time > _TOLD_SECONDS:
        typer.echo(f"{counted(len(plan.seconds), 'call')} to simulate, about {show_seconds(plan.time)}", err=True)
    with share_bar("simulating") as passed:
        found = predict_request(simulator, calibration, request, plan, passed)
    if output:
        write_predicted(found, output, force)
    if format is Format.json:
        typer.echo(json.dumps(predicted_object(found), indent=1, allow_nan=False))
    else:
        typer.echo(predicted_text(found), nl=False)
