"""One algorithm next to the default on every host file: nodes, ranks on each node, and a panel for each size."""

from timpani.charts import placements
from timpani.charts.marks.figure import COMPETITOR, SETTING, Figure

FIGURE = Figure(
    name="against-default",
    section=placements.FIGURE.section,
    place=31,
    shows="against the default by nodes × ranks on each",
    table="competitors",
    draw=placements.placements,
    columns=(COMPETITOR, *placements.FIGURE.columns),
    optional=placements.FIGURE.optional,
    chosen_by=(COMPETITOR, SETTING),
)
