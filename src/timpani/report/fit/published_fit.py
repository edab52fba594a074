"""Compare a published regression with a measured one, term by term."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import hypot
from statistics import NormalDist
from typing import Any

from timpani.campaign.osu.published_tables import Published
from timpani.libraries.counterpart import counterpart
from timpani.models.fitted_model import NamedModel
from timpani.models.regression import Coefficient, Regression
from timpani.report.tables.report_table import Table, Value
from timpani.report.words.fit_words import bounds, measured_curve, number
from timpani.stats.interval import LEVEL
from timpani.stats.mean import Estimate
from timpani.study.cell import Algorithm
from timpani.study.placement import UNPLACED

_REACH = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True)
class TermComparison:
    """A term's measured and published coefficient.

    difference  measured − published; its 95 % interval includes both standard errors and the rounding of the print
    """

    name: str
    measured: Estimate
    published: Estimate
    difference: Estimate


@dataclass(frozen=True)
class FitComparison:
    """A measured and a published regression of the same formula, for the same algorithm of a collective."""

    measured: NamedModel[Regression]
    table: Published
    terms: tuple[TermComparison, ...]
    r_squared: float
    aic: float


def compare_fits(regressions: Iterable[NamedModel[Regression]], table: Published) -> list[FitComparison]:
    """Each measured regression that has a counterpart of the same formula in `table`."""
    found = []
    for measured in regressions:
        rows = {_term_name(row["term"]): row for row in table.rows if _same_model(measured, table, row)}
        terms = [
            _term(each, rows[_term_name(each.term)])
            for each in measured.model.coefficients
            if _term_name(each.term) in rows
        ]
        if terms and len(terms) == len(rows) == len(measured.model.coefficients):
            first = next(iter(rows.values()))
            found.append(FitComparison(measured, table, tuple(terms), float(first["r_squared"]), float(first["aic"])))
    return found


def fit_comparison_table(each: FitComparison) -> Table:
    """A row per term: measured, published, difference; above it the goodness of both fits."""
    model = each.measured.model
    return Table(
        caption=f"{measured_curve(each.measured.name)}: {model.formula}, compared with {each.table.title}",
        notes=(
            f"R² {model.r_squared:.3f}, published {each.r_squared:g}; AIC {model.aic:.0f} of {model.observations} "
            f"points, published {each.aic:g} of other points. The published times are from {each.table.machine}: "
            "differences combine machine, library and method.",
        ),
        corner="Term",
        columns=("Measured", "Published", "Measured − published"),
        rows=tuple(
            (
                term.name,
                tuple(
                    Value(number(value.value), bounds(value))
                    for value in (term.measured, term.published, term.difference)
                ),
            )
            for term in each.terms
        ),
    )


def fit_comparison_object(each: FitComparison) -> dict[str, Any]:
    """The comparison for JSON."""

    def estimate(value: Estimate) -> dict[str, Any]:
        return {"value": value.value, "interval": [value.low, value.high]}

    return {
        **each.measured.name,
        "formula": str(each.measured.model.formula),
        "terms": [
            {
                "term": term.name,
                "measured": estimate(term.measured),
                "published": estimate(term.published),
                "difference": estimate(term.difference),
            }
            for term in each.terms
        ],
        "r_squared": each.measured.model.r_squared,
        "published_r_squared": each.r_squared,
    }


def _same_model(measured: NamedModel[Regression], table: Published, row: Mapping[str, str]) -> bool:
    """Whether the response is the same and the measured algorithm is the counterpart of the published one."""
    if not table.fitted or measured.name["collective"] != table.fitted["collective"]:
        return False
    if measured.name["placement"] not in (table.fitted.get("placement"), UNPLACED):
        return False
    theirs = Algorithm.parse(table.fitted["algorithm"])
    here = counterpart(measured.name["collective"], theirs, measured.name["provider"])
    response = str(measured.model.formula).partition(" ~")[0]
    return (
        bool(measured.name["algorithm"] in (here.name, theirs.name))
        and _term_name(row["model"].partition("~")[0]) == response
    )


def _term_name(printed: str) -> str:
    """A term or response as Timpani writes it: `log2_size` becomes `log2(size)`, and `processes` become `ranks`."""
    return re.sub(r"^log2_(\w+)$", r"log2(\1)", printed).replace("processes", "ranks")


def _term(measured: Coefficient, row: Mapping[str, str]) -> TermComparison:
    value, error = float(row["coef"]), float(row["std_err"])
    difference = measured.value - value
    decimals = len(row["coef"].partition(".")[2])
    reach = _REACH * hypot(measured.standard_error, error) + 0.5 * 10.0**-decimals
    return TermComparison(
        measured.term,
        Estimate(measured.value, measured.low, measured.high),
        Estimate(value, float(row["ci_low"]), float(row["ci_high"])),
        Estimate(difference, difference - reach, difference + reach),
    )
