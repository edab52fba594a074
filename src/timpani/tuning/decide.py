"""Which algorithm should be used where, what it gains over the default, and how sure that is."""

from dataclasses import dataclass

import polars as pl

from timpani.stats.compare import launches_needed
from timpani.study.cell import DEFAULT
from timpani.study.operations import COLLECTIVES, PLAIN_MESSAGE
from timpani.study.schema import ALGORITHM, POINT
from timpani.tuning.points import compare_at_points, competing, launch_medians
from timpani.tuning.sentence import sentence

CLOSE_ENOUGH = 1.05
"""A default is called good where nothing is significantly faster by more than this factor."""


def compare_with_default(results: pl.DataFrame) -> pl.DataFrame:
    """Compare each algorithm with the default at the same point; `results` has columns RESULT_SCHEMA.

    Columns POINT, ALGORITHM, `label`, `ratio` = default's time / algorithm's (Hodges–Lehmann, over 1 where the
    algorithm is faster), `ratio_low` and `ratio_high` at 95 % (null where there are too few launches for a bound),
    `p_value` of the pair alone, `significant` after Holm's correction over the point, `faster` = ratio over 1.
    Algorithms or defaults without a successful launch have no row.
    """
    return _compare_with(competing(launch_medians(results)), DEFAULT)


def compare_with_plain_message(results: pl.DataFrame) -> pl.DataFrame:
    """Compare each way of transposing with one message of the same bytes, as `compare_with_default` does."""
    transposes = launch_medians(results).filter(pl.col("collective") == "transpose")
    return _compare_with(transposes, PLAIN_MESSAGE)


def decide(results: pl.DataFrame) -> pl.DataFrame:
    """The best algorithm of each point, in the order of POINT; `results` has columns RESULT_SCHEMA.

    default_us, best_us           medians over launches
    best_label                    the lowest median; where some algorithms are significantly faster than the default,
                                  the lowest among those
    tied                          labels not significantly slower than the best, it first, then by time
    verdict                       'better': something is significantly faster than the default; 'default': the default
                                  is significantly faster than everything else; 'tie': neither
    gain, gain_low, gain_high     default / best, as `compare_with_default` estimates it; 1 where the default is best
    default_loss                  default_us / best_us − 1
    default_within_5_percent      nothing is significantly faster than the default by more than 5 %

    Where the default or everything else is missing there is no verdict: all but best and tied are null, and default_us
    is the default's own. Operations without algorithms to choose among have no point.
    """
    medians = competing(launch_medians(results))
    compared = _compare_with(medians, DEFAULT)
    wins = pl.col("significant") & pl.col("faster")
    verdicts = compared.group_by(POINT).agg(
        wins.any().alias("beaten"),
        (pl.col("significant") & ~pl.col("faster")).all().alias("unbeaten"),
        (~(wins & (pl.col("ratio") > CLOSE_ENOUGH)).any()).alias("default_within_5_percent"),
    )
    best = (
        medians.join(
            compared.select(*POINT, *ALGORITHM, "ratio", "ratio_low", "ratio_high", wins.alias("wins")),
            on=[*POINT, *ALGORITHM],
            how="left",
        )
        .sort(pl.col("wins").fill_null(False), "time_us", descending=[True, False], maintain_order=True)
        .group_by(POINT, maintain_order=True)
        .first()
    )
    default = medians.filter(pl.col("algorithm") == DEFAULT).select(*POINT, pl.col("time_us").alias("default_us"))
    decided = pl.col("verdict").is_not_null()
    best_is_default = pl.col("algorithm") == DEFAULT
    return (
        best.join(default, on=POINT, how="left")
        .join(verdicts, on=POINT, how="left")
        .join(_tied(medians, best), on=POINT, how="left")
        .with_columns(
            pl.when("beaten")
            .then(pl.lit("better"))
            .when("unbeaten")
            .then(pl.lit("default"))
            .when(pl.col("beaten").is_not_null())
            .then(pl.lit("tie"))
            .alias("verdict")
        )
        .with_columns(
            pl.when(decided & best_is_default).then(1.0).otherwise(pl.col(ratio)).alias(gain)
            for ratio, gain in (("ratio", "gain"), ("ratio_low", "gain_low"), ("ratio_high", "gain_high"))
        )
        .with_columns(pl.when(decided).then(pl.col("default_us") / pl.col("time_us") - 1).alias("default_loss"))
        .sort(POINT)
        .select(
            *POINT,
            "default_us",
            pl.col("label").alias("best_label"),
            pl.col("time_us").alias("best_us"),
            "tied",
            "verdict",
            "gain",
            "gain_low",
            "gain_high",
            "default_loss",
            "default_within_5_percent",
        )
    )


def _compare_with(medians: pl.DataFrame, reference: str) -> pl.DataFrame:
    is_reference = pl.col("algorithm") == reference
    references = medians.filter(is_reference).select(*POINT, pl.col("times").alias("reference"))
    pairs = medians.filter(~is_reference).join(references, on=POINT, maintain_order="left")
    return (
        compare_at_points(pairs)
        .with_columns((pl.col("ratio") > 1).alias("faster"))
        .select(*POINT, *ALGORITHM, "label", "ratio", "ratio_low", "ratio_high", "p_value", "significant", "faster")
    )


def _tied(medians: pl.DataFrame, best: pl.DataFrame) -> pl.DataFrame:
    """POINT and `tied`. The family of these comparisons is all other algorithms against the best one."""
    others = medians.join(best, on=[*POINT, *ALGORITHM], how="anti").join(
        best.select(*POINT, pl.col("times").alias("reference")), on=POINT
    )
    equals = compare_at_points(others).filter(~(pl.col("significant") & (pl.col("ratio") < 1)))
    return (
        pl.concat(
            [
                best.select(*POINT, "label", "time_us", pl.lit(0).alias("place")),
                equals.select(*POINT, "label", "time_us", pl.lit(1).alias("place")),
            ]
        )
        .sort("place", "time_us", "label")
        .group_by(POINT, maintain_order=True)
        .agg(pl.col("label").alias("tied"))
    )


@dataclass(frozen=True)
class Loss:
    """What the default costs at a point: gain = default's time / best's, with its 95 % interval where it has bounds."""

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
class Verdict:
    """A campaign in a few figures.

    decided            points where the default could be compared with something
    within_5_percent   share of them where the default is good enough; None where nothing was decided
    worst              the largest significant loss, None where there is none
    sentences          one per collective
    warnings           what to know before the figures are believed, each with what to do
    too_few_launches   points at which launches are too few for any difference to be significant
    launches_needed    launches at which one could be, at all of them
    has_collectives    whether there is anything that a default decides
    """

    decided: int
    within_5_percent: float | None
    worst: Loss | None
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    too_few_launches: int = 0
    launches_needed: int = 0
    has_collectives: bool = True

    @property
    def can_tell(self) -> bool:
        """Whether a difference could have been significant anywhere."""
        return self.decided > self.too_few_launches


def summarise(decisions: pl.DataFrame, cells: pl.DataFrame) -> Verdict:
    """The verdict on a campaign, from its `decide` and its `estimate_cells`."""
    decided = decisions.filter(pl.col("verdict").is_not_null())
    worst = decided.filter(pl.col("verdict") == "better").sort("gain", descending=True).head(1)
    share = decided["default_within_5_percent"].mean()
    short = _too_few_launches(cells)
    return Verdict(
        decided=decided.height,
        within_5_percent=share if isinstance(share, float) else None,
        worst=Loss(**worst.select(Loss.__dataclass_fields__.keys()).row(0, named=True)) if worst.height else None,
        sentences=tuple(
            sentence(str(name), part)
            for (name,), part in decisions.sort("collective").group_by("collective", maintain_order=True)
        ),
        warnings=_warnings(cells, short),
        too_few_launches=short.height,
        launches_needed=max(short["needed"].to_list(), default=0),
        has_collectives=not set(cells["collective"]).isdisjoint(COLLECTIVES),
    )


_CELL_WARNINGS = {
    "not_converged": "did not converge: give them more time (--budget) or at least 5 launches (--launches)",
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
        warnings.append(
            f"{short.height} points have too few launches for any difference to be significant: "
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
