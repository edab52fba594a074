"""`timpani fit`: switches of protocol, and models of a campaign's times."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from timpani.campaign.folder.load import Campaign as LoadedCampaign
from timpani.campaign.folder.load import load
from timpani.campaign.read.study_names import with_study_names
from timpani.cli.terminal.completing import complete_campaign
from timpani.cli.terminal.figure_options import FigureOptions
from timpani.cli.terminal.named_campaigns import campaign_or_newest
from timpani.cli.terminal.options import (
    Campaign,
    Force,
    Format,
    document_format,
    document_text,
    expand,
)
from timpani.errors import UserError
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.document.blocks import Block, Document
from timpani.report.document.formats import json_text
from timpani.report.figures.drawn_figures import FigureStyle
from timpani.report.fit.fit_context import FitContext
from timpani.report.fit.fit_text import fit_blocks, fit_object
from timpani.slices import Hook
from timpani.stats.fit import Fit
from timpani.stats.fit import fit as fit_models
from timpani.study.cell import OWN
from timpani.study.words import counted


class ModelPrediction(Protocol):
    """The times of Timpani's algorithms by the model, next to the measured ones."""

    def as_object(self) -> dict[str, Any]:
        """For JSON."""

    def blocks(self, details: bool) -> Iterable[Block]:
        """How near the predictions come; `details`: of each curve."""

    def write(self, path: Path, force: bool, style: FigureStyle) -> None:
        """Draw the predicted over the measured times."""


_PREDICTION: Hook[Callable[[LoadedCampaign, Path | None], ModelPrediction | None]] = Hook("CAMPAIGN_PREDICTION")


@expand(style=FigureOptions)
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
    costs_from: Annotated[
        Path | None,
        typer.Option(
            help="Another campaign, with the costs of messages, reductions and copies.",
            autocompletion=complete_campaign,
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(help="A new .svg, .png or .pdf: predicted over measured times of Timpani's algorithms."),
    ] = None,
    published: Annotated[
        list[str] | None,
        typer.Option(help="Also show the published fit of della_siega or holt; the first letters are enough."),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print every curve, even if a collective has many.")
    ] = False,
    style: FigureOptions,
    force: Force = False,
) -> None:
    """Fit models to a campaign: switches of protocol, latency and throughput, regressions."""
    folder = campaign_or_newest(folder)
    campaign = load(folder)
    # Data, and predictions, have the names of the algorithms that were measured.
    named = campaign if format is Format.json else with_study_names(campaign)
    context = FitContext.from_campaign(named, clock_ghz, published or [])
    found = fit_models(named.results, estimate_cells(raced_results(named)), f"{folder}/results.jsonl", formula)
    prediction, why_not = _predict(campaign, costs_from, required=costs_from is not None or figure is not None)
    found = replace(found, left_out=[*found.left_out, *why_not])
    if figure is not None:
        if prediction is None:
            raise UserError(
                "there is no prediction to draw", "measure Timpani's algorithms and latency, or name --costs-from"
            )
        prediction.write(figure, force, style.chosen())
    _print(found, context, prediction, format, details)


def _predict(
    campaign: LoadedCampaign, costs_from: Path | None, *, required: bool
) -> tuple[ModelPrediction | None, list[str]]:
    """The prediction of Timpani's algorithms; or None and the reason, which is an error if it is required."""
    if not required and not _PREDICTION.names():
        return None, []
    own = campaign.results.filter(provider=OWN).height
    if own:
        typer.echo(f"estimating the costs of messages from {counted(own, 'result')} of Timpani's algorithms", err=True)
    try:
        return _PREDICTION.only("--costs-from")(campaign, costs_from), []
    except UserError as error:
        if required:
            raise
        return None, [f"Timpani's algorithms by the model: {error}"]


def _print(found: Fit, context: FitContext, prediction: ModelPrediction | None, format: Format, details: bool) -> None:
    if format is Format.json:
        found_object = fit_object(found, context)
        found_object["prediction"] = prediction.as_object() if prediction else None
        typer.echo(json_text(found_object), nl=False)
    else:
        predicted = prediction.blocks(details) if prediction else ()
        document = Document("Fitted models", (*fit_blocks(found, context, details), *predicted))
        typer.echo(document_text(document, format), nl=False)
