"""`timpani fit`: switches of protocol, and models of a campaign's times."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How a fit is shown."""

    table = "table"
    json = "json"


def fit(
    folder: Annotated[Path, typer.Argument(help="What `timpani run -o` or `timpani import -o` wrote.")],
    format: Annotated[Format, typer.Option(help="json has the keys of docs/how-to/fit-a-model.md.")] = Format.table,
    formula: Annotated[
        str | None,
        typer.Option(
            help="A regression in place of the usual two: 'log2(latency) ~ ranks + log2(size) - 1'.", show_default=False
        ),
    ] = None,
    clock_ghz: Annotated[
        float | None,
        typer.Option(
            help="The processor's clock rate, for latencies in cycles, where the campaign doesn't tell it.",
            min=0.001,
            show_default=False,
        ),
    ] = None,
    costs_from: Annotated[
        Path | None,
        typer.Option(
            help="The campaign whose `latency` and `reduce_local` tell α, β and γ, where it is another.",
            show_default=False,
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="A new .svg, .png or .pdf: our algorithms' predicted over measured times.", show_default=False
        ),
    ] = None,
    published: Annotated[
        list[str] | None,
        typer.Option(
            help="Show a published fit beside: holt_latency_throughput, della_siega_bcast_linear_ols.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Fit a campaign: where curves jump, latency and throughput, LogGP, max-rate, and regressions on ranks and size."""
    import json

    from timpani.campaign.load import load
    from timpani.campaign.published import read_published
    from timpani.campaign.relations import relations_of
    from timpani.campaign.table import estimate_cells
    from timpani.machine.clock_rate import stated_clock_ghz
    from timpani.models.fit import fit as fit_models
    from timpani.providers.eager_limits import eager_limits
    from timpani.report.fit_json import fit_object
    from timpani.report.fit_text import fit_text
    from timpani.report.prediction import predicted_campaign, write_prediction

    campaign = load(folder)
    tables = [read_published(name, "fit") for name in published or []]
    found = fit_models(campaign.results, estimate_cells(campaign.results), f"{folder}/results.jsonl", formula)
    mpi = campaign.header.mpi
    relations = relations_of(campaign)
    clock_ghz = clock_ghz or stated_clock_ghz(campaign.header.machine.cpu)
    limits = eager_limits(mpi.kind, mpi.version)
    prediction = predicted_campaign(campaign, found, costs_from)
    if figure is not None:
        write_prediction(prediction, figure)
    if format is Format.json:
        found_object = fit_object(found, limits, clock_ghz, tables, relations)
        found_object["prediction"] = prediction.as_json() if prediction else None
        typer.echo(json.dumps(found_object, indent=1, allow_nan=False))
    else:
        typer.echo(fit_text(found, limits, clock_ghz, tables, relations), nl=False)
        if prediction:
            typer.echo("\n" + prediction.text(), nl=False)
