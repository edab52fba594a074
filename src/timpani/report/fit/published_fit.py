"""Fits that somebody published, next to those of a campaign; slices add the fits."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from timpani.report.document.table import Table
from timpani.slices import Hook
from timpani.stats.regression import NamedRegression


@dataclass(frozen=True)
class FitComparison:
    """A measured and a published regression of the same formula: a row per term, and the same for JSON."""

    collective: str
    table: Table
    as_object: dict[str, Any]


class PublishedFit(Protocol):
    """A fit that somebody published; its rows as printed, by the columns of its table."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def machine(self) -> str: ...
    @property
    def rows(self) -> tuple[dict[str, str], ...]: ...

    def compare(self, regressions: Iterable[NamedRegression]) -> list[FitComparison]:
        """Each measured regression that has a counterpart of the same formula here."""


_FITS: Hook[Callable[[str], PublishedFit]] = Hook("PUBLISHED_FITS")


def read_published_fits(names: Iterable[str]) -> list[PublishedFit]:
    """The published fits whose names begin so; UserError if no fit is called so."""
    return [_FITS.only("--published")(name) for name in names]
