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
        str, typer.Option(help="A published table: behrooz_bcast_scatter, malasi; its first word will do.")
    ],
    format: Annotated[Format, typer.Option(help="json has every correlation and every cell.")] = Format.table,
) -> None:
    """Say how a campaign agrees with a published table: rank correlations, and which algorithm is best."""
    import json

    from timpani.campaign.load import load
    from timpani.campaign.published import read_published
    from timpani.campaign.published_times import full_name, published_times
    from timpani.campaign.table import estimate_cells
    from timpani.errors import UserError
    from timpani.report.agreement import agreement_object, agreement_text
    from timpani.tuning.agreement import agreement, pair_times, unpaired

    campaign = load(folder)
    table = read_published(full_name(published), "measurements")
    cells, times = estimate_cells(campaign.results), published_times(table, campaign.header.mpi.kind)
    pairs, left_out = pair_times(cells, times), unpaired(cells, times)
    if pairs.is_empty():
        raise UserError(f"{folder} and {table.name} have no cell in common", "measure its algorithms, ranks and sizes")
    found = agreement(pairs)
    simulated = bool(campaign.results["simulated"].any())
    if format is Format.json:
        typer.echo(json.dumps(agreement_object(found, left_out, table.name, simulated), indent=1, allow_nan=False))
    else:
        typer.echo(agreement_text(found, left_out, table.title, simulated), nl=False)
