"""The cells of a campaign with all columns of docs/reference.md."""

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.cell_table import estimate_cells
from timpani.campaign.read.context import with_bounds
from timpani.campaign.read.message_locality import with_locality


def cells_in_context(campaign: Campaign) -> pl.DataFrame:
    """One row per cell, estimated over its launches, with its locality and the bound of its links."""
    return with_bounds(with_locality(estimate_cells(campaign.raced), campaign), campaign)
