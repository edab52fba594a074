"""What a report shows: the campaign's cells and all that is computed of them, and which figures there are."""

import polars as pl

from timpani.campaign.context import with_boundaries, with_bounds
from timpani.campaign.load import Campaign
from timpani.campaign.relations import with_relation
from timpani.campaign.table import estimate_cells
from timpani.report import figures
from timpani.report.figures import CONDITIONS, Panel, with_conditions
from timpani.report.fit_section import fit_section
from timpani.report.messages import MESSAGES, message_rows
from timpani.tuning import knee
from timpani.tuning.decide import compare_with_default, compare_with_plain_message, decide, summarise
from timpani.tuning.likeness import likeness


class Report:
    """A campaign with all that is computed for its report."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        cells = with_boundaries(with_relation(estimate_cells(campaign.results), campaign), campaign)
        cells = with_bounds(cells, campaign)
        cells = with_conditions(cells)
        self.decisions = with_conditions(decide(campaign.results))
        self.verdict = summarise(self.decisions, cells)
        compared_with = pl.concat(
            [compare_with_default(campaign.results), compare_with_plain_message(campaign.results)]
        )
        self.cells = figures.with_speedup(cells, compared_with)
        self.best = figures.with_best_status(self.decisions, self.cells)
        self.messages = message_rows(self.cells)
        transposes = self.cells.filter(pl.col("collective") == "transpose")
        calls = self.cells.filter(~pl.col("collective").is_in((*MESSAGES, "transpose")))
        self.likeness = with_conditions(likeness(calls))
        self.knees = with_conditions(knee.knees(calls))
        several_ranks = calls.filter(pl.col("ranks").n_unique().over("collective", CONDITIONS) > 1)
        several_placements = calls.filter(pl.col("placement").n_unique().over("collective", figures.SETTING) > 1)
        several_pairs = self.messages.filter(
            pl.col("first").is_not_null() & (pl.struct("first", "second").n_unique().over("collective", "ranks") > 1)
        )
        compared, by_plain_message = (
            part.filter(pl.col("ratio").is_not_null().any().over("collective")) for part in (calls, transposes)
        )
        self.models = fit_section(campaign, cells)
        repeated = self.cells.filter(
            (pl.col("spread").is_not_null() & (pl.col("launches") > 1)).any().over("collective")
        )
        self.panels: dict[str, list[Panel]] = {
            kind.name: figures.panels(kind, frame)
            for kind, frame in (
                (figures.LATENCY_AGAINST_SIZE, calls),
                (figures.LATENCY_AGAINST_RANKS, several_ranks),
                (figures.PLACEMENTS, several_placements),
                (figures.ALGORITHM_MAP, self.best),
                (figures.SPEEDUP, compared),
                (figures.MESSAGE_LATENCY, self.messages.filter(~pl.col("throughput_shown"))),
                (figures.MESSAGE_THROUGHPUT, self.messages.filter("throughput_shown")),
                (figures.PAIR_MATRIX, several_pairs),
                (figures.TRANSPOSE_THROUGHPUT, transposes),
                (figures.TRANSPOSE_COST, by_plain_message),
                (figures.SPREAD, repeated),
                (figures.FITTED, self.models.fits),
                (figures.RESIDUALS, self.models.residuals),
            )
        }
