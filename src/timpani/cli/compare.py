"""`timpani compare`: a campaign beside a published table."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How a comparison is shown."""

    table = "table"
    json = "json"


def compare(
    folder: Annotated[Path, typer.Argument(help="What `timpani run -o` wrote.")],
    published: Annotated[
        str,
        typer.Option(
            help="A published table or study: behrooz, malasi, della_siega, holt_osu_latency, assignment2; the first "
            "letters will do."
        ),
    ],
    format: Annotated[
        Format, typer.Option(help="json has every correlation, every cell, and all numbers behind a conclusion.")
    ] = Format.table,
) -> None:
    """Say how a campaign agrees with a published table, what is doubtful there, and which of its conclusions hold."""
    import json

    from timpani.campaign.load import load
    from timpani.campaign.published import full_name, read_published
    from timpani.campaign.published_times import published_doubts, published_times
    from timpani.campaign.table import estimate_cells
    from timpani.report.agreement import agreement_object, agreement_text, doubts_text
    from timpani.report.claims import check_claims, claims_object, claims_text
    from timpani.tuning.agreement import agreement, pair_times, unpaired

    campaign = load(folder)
    table = read_published(full_name(published))
    cells, times = estimate_cells(campaign.results), published_times(table, campaign.header.mpi.kind)
    found, left_out = agreement(pair_times(cells, times)), unpaired(cells, times)
    simulated = bool(campaign.results["simulated"].any())
    doubts, checked = published_doubts(table), check_claims(table, campaign)
    if format is Format.json:
        told = agreement_object(found, left_out, table.name, simulated)
        told |= {"doubts": [vars(doubt) for doubt in doubts], "claims": claims_object(checked)}
        typer.echo(json.dumps(told, indent=1, allow_nan=False))
        return
    parts = [
        agreement_text(found, left_out, table.title, simulated),
        doubts_text(doubts),
        claims_text(table, checked, simulated),
    ]
    typer.echo("\n".join(filter(None, parts)), nl=False)
