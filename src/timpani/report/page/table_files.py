"""The tables of a campaign as files for a paper."""

from pathlib import Path

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.cells_in_context import cells_in_context
from timpani.report.tables.table_texts import tables_as
from timpani.report.words.output_files import write_file

TABLE_FILES = {"tables.tex": "latex", "tables.md": "markdown", "tables.csv": "csv"}
"""The files of a campaign's tables, with their formats."""


def write_tables(campaign: Campaign, folder: Path, force: bool) -> None:
    """Write TABLE_FILES into `folder`, over existing ones only with `force`.

    A table per algorithm by rank counts, as published tables are; of one rank count, algorithms next to each other,
    unless the campaign's statistic is OSU's average.
    """
    cells = cells_in_context(campaign)
    as_published = campaign.statistic == "osu" or cells["ranks"].n_unique() > 1
    layout = "ranks" if as_published else "algorithms"
    for name, format in TABLE_FILES.items():
        write_file(folder / name, tables_as(format, campaign, cells, layout).encode(), force)
