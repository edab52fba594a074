"""`timpani predict`: what our algorithms should take where nobody has measured."""

from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.completing import complete_campaign, complete_collective
from timpani.cli.terminal.options import Force, Format, format_option, output_option

_ANNOUNCED_SECONDS = 10
"""A longer prediction prints its expected time before it starts."""

_Costs = Annotated[
    list[Path],
    typer.Option(
        help="A campaign to estimate the costs from; repeat the option for several.", autocompletion=complete_campaign
    ),
]


def predict(
    what: Annotated[
        list[str], typer.Argument(help="Collectives: bcast allreduce …", autocompletion=complete_collective)
    ],
    costs: _Costs,
    ranks: Annotated[str, typer.Option("--ranks", "-n", help="Rank counts: 64,1Ki or 2:1Mi (doubling).")],
    algorithms: Annotated[
        str,
        typer.Option(
            help="`all`: Timpani's, and the library's with known schedules; or a list: binomial,openmpi/knomial."
        ),
    ] = "all",
    sizes: Annotated[str, typer.Option(help="Bytes, as `timpani run --sizes` counts them.")] = "8:1Mi*8",
    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Machine file to predict for; default: the campaign's. Without one, ranks are as close as measured.",
        ),
    ] = None,
    placement: Annotated[str, typer.Option(help="Place ranks by core, socket, node or ppr:N.")] = "core",
    budget: Annotated[str, typer.Option(help="Maximum time to simulate one call; longer ones are left out.")] = "10s",
    output: Annotated[Path | None, output_option("A new folder: page, figures, JSON.")] = None,
    format: Annotated[Format, format_option("json has the keys of docs/reference.md.")] = Format.table,
    force: Force = False,
) -> None:
    """Predict algorithms from measured costs: the fastest at each point, its time, and what the time consists of."""
    import json

    from timpani.campaign.folder.load import load_one_machine
    from timpani.cli.terminal.share_bar import share_bar
    from timpani.machine.where import resolve
    from timpani.prediction.predictions import predict_request
    from timpani.prediction.prepare import prepare
    from timpani.prediction.request import Limits
    from timpani.providers.verification_cost import available_memory
    from timpani.report.predicted.prediction_output import check_new, predicted_object, predicted_text, write_predicted
    from timpani.study.values import parse_duration
    from timpani.study.words import counted, show_seconds

    if output:
        check_new(output, force)
    limits = Limits(parse_duration(budget), available_memory())
    machine = resolve(on) if on else None
    campaigns = [load_one_machine(folder) for folder in costs]
    prepared = prepare(campaigns, what, algorithms, ranks, sizes, machine, placement)
    with share_bar("estimating") as passed:
        plan = prepared.plan(limits, passed)
    if plan.time > _ANNOUNCED_SECONDS:
        typer.echo(f"{counted(len(plan.seconds), 'call')} to simulate, about {show_seconds(plan.time)}", err=True)
    with share_bar("simulating") as passed:
        found = predict_request(prepared.simulator, prepared.calibration, prepared.request, plan, passed)
    if output:
        write_predicted(found, output, force)
    if format is Format.json:
        typer.echo(json.dumps(predicted_object(found), indent=1, allow_nan=False))
    else:
        typer.echo(predicted_text(found), nl=False)
