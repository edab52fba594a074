"""The verdict on a campaign in a few figures: what is shown of the default, what is not, and what would show it."""

from dataclasses import dataclass
from math import ceil

import polars as pl

from timpani.stats.compare import launches_needed
from timpani.study.cell import DEFAULT
from timpani.study.counted import counted
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import POINT
from timpani.tuning.decide import BY_VALUE, CLOSE_ENOUGH, SLOWER, UNDECIDED, WITHIN
from timpani.tuning.sentence import sentence


@dataclass(frozen=True)
class Loss:
    """What the default costs at a point: gain = default's time / best's, with its 95 % interval where there is one."""

    collective: str
    ranks: int
    placement: str
    message_bytes: int
    mode: str
    machine: str
    best_label: str
    gain: float
    gain_low: float | None
    gain_high: float | None


@dataclass(frozen=True)
class Decisive:
    """What would probably decide the undecided points: launches for half of them, and for nine in ten.

    of                      undecided points for which that can be told: launches bound their ratios already
    half, most              launches in all, those measured included
    half_seconds, most_seconds  what the launches still to be measured take; None where nobody knows what one takes
    """

    of: int
    half: int
    most: int
    half_seconds: float | None
    most_seconds: float | None


@dataclass(frozen=True)
class Verdict:
    """A campaign in a few numbers.

    decided            points where the default could be compared with something
    within_5_percent, slower, undecided   how many of them, by the column `standing` of `decide`
    by_value           how many are of imported averages, which have a lowest time and no interval
    within_by_value    at how many of these the default takes at most 5 % longer than the best
    decisive           what would decide the undecided; None where there are none, or nothing can be told
    worst              the largest significant loss, or of averages the largest; None where there is none
    sentences          one per operation
    warnings           what to know before the numbers are believed, each with what to do
    too_few_launches   points at which launches are too few for any difference to be significant
    launches_needed    launches at which one could be, at all of them
    has_collectives    whether there is anything that a default decides
    """

    decided: int
    within_5_percent: int
    slower: int
    undecided: int
    worst: Loss | None
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    by_value: int = 0
    within_by_value: int = 0
    decisive: Decisive | None = None
    too_few_launches: int = 0
    launches_needed: int = 0
    has_collectives: bool = True

    @property
    def can_tell(self) -> bool:
        """Whether a difference could have been significant anywhere."""
        return self.decided > self.too_few_launches


def summarise(decisions: pl.DataFrame, cells: pl.DataFrame, launch_seconds: float | None = None) -> Verdict:
    """The verdict on a campaign, from its `decide`, its `estimate_cells` and what one launch of all cells took."""
    decided = decisions.filter(pl.col("verdict").is_not_null())
    by_value = decided.filter(pl.col("verdict") == BY_VALUE)
    beaten = pl.col("verdict").is_in(["better", BY_VALUE]) & (pl.col("gain") > 1)
    worst = decided.filter(beaten).sort("gain", descending=True).head(1)
    standing = dict(decided.group_by("standing").len().iter_rows())
    short = _too_few_launches(cells)
    return Verdict(
        decided=decided.height,
        within_5_percent=standing.get(WITHIN, 0),
        slower=standing.get(SLOWER, 0),
        undecided=standing.get(UNDECIDED, 0),
        worst=Loss(**worst.select(Loss.__dataclass_fields__.keys()).row(0, named=True)) if worst.height else None,
        sentences=tuple(
            sentence(str(name), part)
            for (name,), part in decisions.sort("collective").group_by("collective", maintain_order=True)
        ),
        warnings=_warnings(cells, short),
        by_value=by_value.height,
        within_by_value=by_value.filter(pl.col("default_loss") <= CLOSE_ENOUGH - 1).height,
        decisive=_decisive(decided, cells, launch_seconds),
        too_few_launches=short.height,
        launches_needed=max(short["needed"].to_list(), default=0),
        has_collectives=not set(cells["collective"]).isdisjoint(COLLECTIVES),
    )


def _decisive(decided: pl.DataFrame, cells: pl.DataFrame, launch_seconds: float | None) -> Decisive | None:
    needed = sorted(decided["launches_to_decide"].drop_nulls())
    if not needed:
        return None
    half, most = (needed[ceil(share * len(needed)) - 1] for share in (0.5, 0.9))
    measured = cells["launches"].max()
    done = measured if isinstance(measured, int) else 0
    seconds = [None if launch_seconds is None else max(0, each - done) * launch_seconds for each in (half, most)]
    return Decisive(len(needed), half, most, *seconds)


_CELL_WARNINGS = {
    "not_converged": "did not converge: fewer than 5 launches, or calls that varied more than the wanted precision",
    "average_only": "are imported averages: a single run or few, without an interval",
    "wide": "have intervals wider than a quarter of their median: too uncertain to use by themselves",
    "skewed": "started skewed, so that part of their time is waiting for the last rank",
    "oversubscribed": "had more ranks than cores: they say little about a machine with a core for each",
    "simulated": "are simulated: nothing varies, and how near they are to a real machine is not known",
    "failed": "failed in at least one launch: `timpani show --format csv` names the cause",
}


def _warnings(cells: pl.DataFrame, short: pl.DataFrame) -> tuple[str, ...]:
    status = pl.col("status").str.split("+")
    counts = {text: cells.filter(status.list.contains(word)).height for word, text in _CELL_WARNINGS.items()} | {
        "have two separated modes, of which the median describes one": cells["bimodal"].sum()
    }
    warnings = [f"{count} of {cells.height} cells {text}" for text, count in counts.items() if count]
    if short.height:
        have = "has" if short.height == 1 else "have"
        warnings.append(
            f"{counted(short.height, 'point')} {have} too few launches for any difference to be significant: "
            f"measure with --launches {max(short['needed'].to_list())} or more"
        )
    return tuple(warnings)


def _too_few_launches(cells: pl.DataFrame) -> pl.DataFrame:
    """The points at which no difference could be significant, with the launches `needed`."""
    points = (
        cells.filter(pl.col("median_us").is_not_null())
        .group_by(POINT)
        .agg(
            (pl.col("algorithm") != DEFAULT).sum().alias("algorithms"),
            (pl.col("algorithm") == DEFAULT).any().alias("has_default"),
            pl.min("launches"),
            pl.col("status").str.contains("simulated").any().alias("simulated"),
        )
        .filter(pl.col("has_default") & (pl.col("algorithms") > 0) & ~pl.col("simulated"))
    )
    needed = points["algorithms"].map_elements(launches_needed, return_dtype=pl.Int64)
    return points.with_columns(needed.alias("needed")).filter(pl.col("launches") < pl.col("needed"))
