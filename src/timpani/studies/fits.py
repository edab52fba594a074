"""Compare a published regression with a measured one, term by term."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import hypot
from statistics import NormalDist
from typing import Any, Self

from timpani.libraries.registry import counterpart
from timpani.report.document.blocks import Table, Value, rows
from timpani.report.fit.fit_context import FitComparison
from timpani.report.fit.fit_words import measured_curve
from timpani.stats.regression import Coefficient, NamedRegression
from timpani.stats.sample import LEVEL, Estimate
from timpani.studies.tables import Published, read_published
from timpani.study.cell import UNPLACED, Algorithm
from timpani.study.words import four_digits, per_cent

_Sides = Mapping[str, Estimate]
"""A term's `measured` and `published` coefficient, and their `difference`: its 95 % interval includes both standard
errors and the rounding of the print."""

_REACH = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True)
class StudyFit(Published):
    """A published fit as reports show it."""

    @classmethod
    def read(cls, name: str) -> Self:
        """The fit whose name begins so; UserError if no fit is called so."""
        return cls(**vars(read_published(name, "fit")))

    def compare(self, regressions: Iterable[NamedRegression]) -> list[FitComparison]:
        """Each measured regression that has a counterpart of the same formula here."""
        return [found for measured in regressions if (found := self._comparison(measured))]

    def _comparison(self, measured: NamedRegression) -> FitComparison | None:
        printed_rows = {_term_name(row["term"]): row for row in self.rows if _same_model(measured, self, row)}
        coefficients = measured.model.coefficients
        if not printed_rows or set(printed_rows) != {_term_name(each.term) for each in coefficients}:
            return None
        terms = {each.term: _term(each, printed_rows[_term_name(each.term)]) for each in coefficients}
        printed = next(iter(printed_rows.values()))
        return FitComparison(
            measured.name["collective"],
            _comparison_table(measured, self, terms, printed),
            {
                **measured.name,
                "formula": str(measured.model.formula),
                "terms": [
                    {"term": name, **{side: _as_object(each) for side, each in sides.items()}}
                    for name, sides in terms.items()
                ],
                "r_squared": measured.model.r_squared,
                "published_r_squared": float(printed["r_squared"]),
            },
        )


def _comparison_table(
    measured: NamedRegression, table: Published, terms: Mapping[str, _Sides], printed: Mapping[str, str]
) -> Table:
    """A row per term: measured, published, difference; above it the goodness of both fits."""
    model = measured.model
    return Table(
        "published-fit",
        caption=f"{measured_curve(measured.name)}: {model.formula}, compared with {table.title}",
        notes=(
            f"R² {model.r_squared:.3f}, published {float(printed['r_squared']):g}; AIC {model.aic:.0f} of "
            f"{model.observations} points, published {float(printed['aic']):g} of other points. The published times "
            f"are from {table.machine}: differences combine machine, library and method.",
        ),
        columns=("Term", "Measured", "Published", "Measured − published"),
        rows=rows(
            (name, *(Value(each.value, each.low, each.high, show=four_digits) for each in sides.values()))
            for name, sides in terms.items()
        ),
        annotation=f"{per_cent(LEVEL)} interval",
    )


def _as_object(value: Estimate) -> dict[str, Any]:
    return {"value": value.value, "interval": [value.low, value.high]}


def _same_model(measured: NamedRegression, table: Published, row: Mapping[str, str]) -> bool:
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


def _term(measured: Coefficient, row: Mapping[str, str]) -> _Sides:
    value, error = float(row["coef"]), float(row["std_err"])
    difference = measured.value - value
    decimals = len(row["coef"].partition(".")[2])
    reach = _REACH * hypot(measured.standard_error, error) + 0.5 * 10.0**-decimals
    return {
        "measured": Estimate(measured.value, measured.low, measured.high),
        "published": Estimate(value, float(row["ci_low"]), float(row["ci_high"])),
        "difference": Estimate(difference, difference - reach, difference + reach),
    }
