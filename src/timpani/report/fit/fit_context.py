"""What is printed next to a fit's numbers: facts of the library, the processor and the ranks, and published fits."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

from timpani.campaign.folder.load import Campaign, StudyName
from timpani.campaign.read.message_locality import Localities, Spread, localities_of, locality_of, spreads_of
from timpani.libraries.find import between_nodes, eager_limits, within_node
from timpani.machine.describe import nominal_clock_ghz
from timpani.machine.nodes.locality import DIFFERENT_NODES, DIFFERENT_SWITCH, SAME_SWITCH
from timpani.report.document.blocks import Table
from timpani.slices import Hook
from timpani.stats.fit import CurveFit
from timpani.stats.regression import NamedRegression
from timpani.stats.segments import Switch
from timpani.study.operations import OPERATIONS, PLAIN_MESSAGE


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


@dataclass(frozen=True)
class FitContext:
    """The conditions under which a fit is shown.

    limits      message sizes at which the library says that it switches its protocol: bytes by name
    spreads     of the ranks over nodes, by machine, rank count and placement, as far as launches recorded
    clock_ghz   of the processor; None where it is unknown
    localities  of the campaign's messages, by which their curves are distinguished
    published   fits to print next to it
    stand_ins   algorithms that are named after those whose place they take
    """

    limits: Mapping[str, int]
    spreads: Mapping[tuple[str, int, str], Spread]
    clock_ghz: float | None
    localities: Localities
    published: tuple[PublishedFit, ...]
    stand_ins: tuple[StudyName, ...]

    @classmethod
    def from_campaign(cls, campaign: Campaign, clock_ghz: float | None, published: Iterable[str]) -> Self:
        """The context of `campaign`, with the published fits of these names; `clock_ghz` overrides the campaign's."""
        mpi = campaign.header.mpi
        return cls(
            eager_limits(mpi.kind, mpi.version),
            spreads_of(campaign),
            clock_ghz or nominal_clock_ghz(campaign.header.machine.cpu),
            localities_of(campaign),
            tuple(read_published_fits(published)),
            campaign.stand_ins,
        )

    def locality(self, fitted: CurveFit) -> str | None:
        """The locality of the ranks of a curve of messages; None for other curves, and where it is unknown."""
        return locality_of(fitted.name, self.localities)

    def limits_within(self, switch: Switch, fitted: CurveFit) -> list[str]:
        """The library's limits at which the curve's switch may be, `name=bytes`, of transports that may have been used.

        None where no message has the curve's size: of what stays on a rank, and of a matrix that is sent by columns.
        """
        kind, algorithm = OPERATIONS[fitted.name["collective"]].kind, fitted.name["algorithm"]
        if kind == "local" or (kind == "transpose" and algorithm != PLAIN_MESSAGE):
            return []
        stays, crosses = self._reach(fitted)
        return [
            f"{name}={limit}"
            for name, limit in self.limits.items()
            if switch.above <= limit <= switch.up_to
            and ((stays and within_node(name)) or (crosses and between_nodes(name)))
        ]

    def _reach(self, fitted: CurveFit) -> tuple[bool, bool]:
        """Whether messages of the curve may have stayed on their node, and whether they may have left it."""
        if near := self.locality(fitted):
            between = set(near.split(", ")) & {SAME_SWITCH, DIFFERENT_SWITCH, DIFFERENT_NODES}
            return between != set(near.split(", ")), bool(between)
        name = fitted.name
        spread = self.spreads.get((name["machine"], name["ranks"], name["placement"]))
        return (spread.on_one_node > 1, spread.nodes > 1) if spread else (True, True)
