"""`timpani fit`: switches of protocol, and models of a campaign's times."""

from typing import Annotated

import typer

from timpani.campaign.folder.load import load
from timpani.campaign.read.study_names import with_study_names
from timpani.cli.terminal.named_campaigns import campaign_or_newest
from timpani.cli.terminal.options import (
    Campaign,
    Format,
    document_format,
    document_text,
)
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.document.blocks import Document
from timpani.report.document.formats import json_text
from timpani.report.fit.fit_context import FitContext
from timpani.report.fit.fit_text import fit_blocks, fit_object
from timpani.stats.fit import fit as fit_models


def fit(
    *,
    folder: Campaign = None,
    format: Annotated[Format, document_format("json has the keys of docs/reference.md.")] = Format.text,
    formula: Annotated[
        str | None,
        typer.Option(
            help="A regression that replaces the two default formulas: 'log2(latency) ~ ranks + log2(size) - 1'."
        ),
    ] = None,
    clock_ghz: Annotated[
        float | None,
        typer.Option(
            help="The processor's clock rate, for latencies in cycles, if it isn't in the campaign.", min=0.001
        ),
    ] = None,
    published: Annotated[
        list[str] | None,
        typer.Option(help="Also show the published fit of della_siega or holt; the first letters are enough."),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print every curve, even if a collective has many.")
    ] = False,
) -> None:
    """Fit models to a campaign: switches of protocol, latency and throughput, regressions."""
    folder = campaign_or_newest(folder)
    campaign = load(folder)
    # Data, and predictions, have the names of the algorithms that were measured.
    named = campaign if format is Format.json else with_study_names(campaign)
    context = FitContext.from_campaign(named, clock_ghz, published or [])
    found = fit_models(named.results, estimate_cells(raced_results(named)), f"{folder}/results.jsonl", formula)
    if format is Format.json:
        typer.echo(json_text(fit_object(found, context)), nl=False)
    else:
        document = Document("Fitted models", tuple(fit_blocks(found, context, details)))
        typer.echo(document_text(document, format), nl=False)
