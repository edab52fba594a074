"""The verdict on a campaign: in a few numbers and sentences, with warnings and what would decide the rest."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import polars as pl

from timpani.campaign.folder.fields import MAX_LAUNCH_NUMBER
from timpani.judge.decide import BY_VALUE, EQUIVALENT, SLOWER, UNDECIDED
from timpani.judge.equal_schedules import EqualSchedules, same_simulated_times, schedule_name
from timpani.judge.jobs import JobScope
from timpani.judge.other_points import GainPart, OtherPoints, at_other_points, competitor_noun, gain_parts
from timpani.judge.points import most_frequent
from timpani.stats.compare import STANDARD, Margins
from timpani.stats.sample import LATENESS_TOLERANCE, LATENESS_TOLERANCE_US, variance_spread
from timpani.study.cell import OWN, TOGETHER
from timpani.study.operations import COLLECTIVES, OPERATIONS
from timpani.study.schema import POINT, is_default
from timpani.study.words import counted, per_cent

_STATUS_TEXTS = {
    "average_only": "are imported averages: a single run or few, without an interval",
    "wide": (
        "have intervals wider than half of their median; ratios may still be precise, since they are compared within "
        "launches"
    ),
    "skewed": "had ranks that did not start together: part of their time is waiting for the last rank to start",
    "lateness_missed": (
        "had a launch in which ranks did not enter as their arrival pattern requests, by over "
        f"{per_cent(LATENESS_TOLERANCE)} of the lateness and over {LATENESS_TOLERANCE_US:g} µs: that time is of "
        "another pattern, and decisions include it"
    ),
    "oversubscribed": "had more ranks than cores: they say little about a machine with a core for each rank",
    "simulated": "are simulated: nothing varies, and their distance from a real machine is unknown",
    "failed": "failed in at least one launch: `timpani show --format csv` names the cause",
}

_UNSTEADY = (
    "did not converge: in most launches their calls varied too much for the requested precision; more launches still "
    "narrow the interval over launches"
)

_SINGULAR = {
    "they are": "it is",
    "they say": "it says",
    "their": "its",
    "intervals": "an interval",
    "imported averages": "an imported average",
}
"""Phrases of these sentences with their singular."""

_TOO_FEW = pl.col("launches") < pl.col("launches_needed")


def cell_warnings(cells: pl.DataFrame, launches_asked: int | None, batch: bool = False) -> Iterator[str]:
    """A sentence for each limitation of some of the cells of `estimate_cells`. batch: as of `launches_advice`"""
    has = {word: pl.col("status").str.split("+").list.contains(word) for word in ("not_converged", *_STATUS_TEXTS)}
    if few := cells.filter(_TOO_FEW).height:
        needed = max(cells.filter(_TOO_FEW)["launches_needed"].to_list())
        advice = launches_advice(cells, launches_asked, batch)
        yield (
            f"{few} of {counted(cells.height, 'cell')} {_agreeing('have fewer', few)} than the {needed} launches that "
            f"a comparison takes{': ' if advice else ''}{advice}"
        )
    warned = {_UNSTEADY: has["not_converged"] & ~_TOO_FEW} | {text: has[word] for word, text in _STATUS_TEXTS.items()}
    warned["have bimodal times: two separated groups, of which the median describes only one"] = pl.col("bimodal")
    for text, condition in warned.items():
        if count := cells.filter(condition).height:
            yield f"{count} of {counted(cells.height, 'cell')} {_agreeing(text, count)}"


def _agreeing(text: str, count: int) -> str:
    """The text in the singular if `count` is 1; its first word is its verb."""
    if count > 1:
        return text
    verb, rest = text.split(" ", 1)
    for many, one in _SINGULAR.items():
        rest = re.sub(rf"\b{many}\b", one, rest)
    return f"{ {'have': 'has', 'are': 'is'}.get(verb, verb) } {rest}"


def launches_advice(cells: pl.DataFrame, launches_asked: int | None, batch: bool = False) -> str:
    """How to measure the launches that cells lack; empty if none are missing or they cannot be measured again.

    `launches_asked` is the number that the campaign's study requests, `batch` whether a batch job measured it. More
    launches in the same folder would be another job, which would replace the launch as the replicate.
    """
    short = cells.filter(_TOO_FEW)
    if short.is_empty() or launches_asked is None:
        return ""
    needed = max(short["launches_needed"].to_list())
    if launches_asked < needed:
        return "measure in several jobs (jobs=6)" if batch else f"measure anew with --launches {needed} or more"
    if short["status"].str.contains("failed").all():
        return "the others failed"
    return "repeat the command that measured this"


def sentence(collective: str, decisions: pl.DataFrame, margins: Margins = STANDARD) -> str:
    """The decisions at all points of one operation as a sentence.

    decisions  the columns of `decide`, and `schedules`, the names of each schedule with the lowest time
    """
    decided = decisions.filter(pl.col("verdict").is_not_null())
    if collective in OPERATIONS and OPERATIONS[collective].kind == "transpose":
        return _fastest(collective, decisions)
    if decided.is_empty():
        return f"{collective}: nothing to compare the default with"
    if (decided["verdict"] == BY_VALUE).all():
        return _by_value(collective, decided, margins)
    count = dict(decided.group_by("standing").len().iter_rows())
    parts = []
    if equivalent := count.get(EQUIVALENT):
        parts.append(f"within {per_cent(margins.equivalence)} of the best at {equivalent}")
    if slower := count.get(SLOWER):
        faster = decided.filter(pl.col("standing") == SLOWER)["schedules"]
        parts.append(f"slower at {slower}, where the best is most often {most_frequent(faster)}")
    parts = [f"the default is {parts[0]}", *parts[1:]] if parts else []
    if ahead := decided.filter(_library_beaten()).height:
        parts.append(f"a Timpani algorithm beats every algorithm of the library at {counted(ahead, 'point')}")
    if undecided := count.get(UNDECIDED):
        parts.append(f"{undecided} of {decided.height} undecided")
    return f"{collective}, {counted(decided.height, 'point')}: {'; '.join(parts)}"


def standing_words(standing: str, margins: Margins) -> str:
    """How the default compares with the other algorithms, by the column `standing`."""
    return f"within {per_cent(margins.equivalence)} of the best" if standing == EQUIVALENT else standing


def _by_value(collective: str, decisions: pl.DataFrame, margins: Margins) -> str:
    """The sentence for imported averages alone."""
    close = decisions.filter(pl.col("default_regret") <= margins.equivalence).height
    times = decisions.explode("schedules").group_by("schedules").len()
    ranked = times.sort("len", "schedules", descending=[True, False]).iter_rows()
    best = ", ".join(f"{label} ({count})" for label, count in ranked)
    shared = decisions.filter(pl.col("schedules").list.len() > 1).height
    ties = f", {shared} of them shared" if shared else ""
    by_value = (
        f"the default is within {per_cent(margins.equivalence)} of the best at {close}; lowest times{ties}: {best}"
    )
    return f"{collective}, {counted(decisions.height, 'point')} by value: {by_value}"


def _library_beaten() -> pl.Expr:
    """Whether the best is one of Timpani's algorithms and every algorithm of the library is significantly slower."""
    return pl.col("tied").list.eval(pl.element().str.starts_with(f"{OWN}/")).list.all()


def _fastest(operation: str, decisions: pl.DataFrame) -> str:
    """The sentence for an operation without a default: at how many points one way is fastest, or several are tied."""
    alone = decisions.filter(pl.col("tied").list.len() == 1)
    parts = [f"tied at {decisions.height - alone.height}"] if alone.height < decisions.height else []
    if alone.height:
        parts.insert(0, f"one way fastest at {alone.height}, most often {most_frequent(alone['schedules'])}")
    return f"{operation}, {counted(decisions.height, 'point')}: {'; '.join(parts)}"


Settings = Mapping[str, Mapping[str, str]]
"""By collective and label, what a user types to select an algorithm."""


DECIDED_SHARE = 0.9
"""Share of the undecided points that `DecisionForecast.most` launches would probably decide."""


@dataclass(frozen=True)
class DefaultRegret:
    """The regret of the default at a point: gain = default's time / best's time, with a 95 % interval if there is one.

    With `raced`, the interval consists of two bounds of 95 % each.

    schedule         all names of the best algorithm's schedule, and of those with the same time
    set_by           what to type to select the best algorithm for all calls of the collective; None if unknown
    at_other_points  its comparison with the default at other points; None if it is slower nowhere
    parts            for a combined variant and algorithm, the gain of each alone
    another_low, another_high  95 % interval of the gain in one more job; None for one job
    """

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
    raced: bool = False
    schedule: str = ""
    set_by: str | None = None
    at_other_points: OtherPoints | None = None
    parts: tuple[GainPart, ...] = ()
    arrival: str = TOGETHER
    another_low: float | None = None
    another_high: float | None = None


@dataclass(frozen=True)
class DecisionForecast:
    """Total launches, or jobs where several measured, that would probably decide half and DECIDED_SHARE of the
    undecided points.

    of             number of undecided points with a forecast: their ratios have bounds
    half, most     total launches or jobs, including those already measured
    unit           `launch` or `job`
    done           how many are measured
    with_one_more  launches in total with one more of them
    seconds        that one of them takes; None if unknown
    spread         factors of `half` and `most` between which they lie with 80 %, since `done` of them show the variance
                   only so well
    """

    of: int
    half: int
    most: int
    unit: Literal["launch", "job"] = "launch"
    done: int = 1
    with_one_more: int = 2
    seconds: float | None = None
    spread: tuple[float, float] = (1.0, 1.0)

    def between(self, number: int) -> tuple[int, int]:
        """The least and the most that `number` of them may mean; at least one more than is `done`."""
        low, high = (max(self.done + 1, ceil(min(number * factor, MAX_LAUNCH_NUMBER))) for factor in self.spread)
        return low, high

    def seconds_for(self, total: int) -> float | None:
        """What it takes to have `total`: of jobs the missing ones, of launches all, since one job must measure them.

        None if unknown.
        """
        measured = self.done if self.unit == "job" else 0
        return None if self.seconds is None else max(0, total - measured) * self.seconds


@dataclass(frozen=True)
class Verdict:
    """A campaign in a few numbers.

    decided            points where the default could be compared with something
    equivalent, slower, undecided  number of these points, by the column `standing` of `decide`
    by_value           number of these with imported averages, which have a lowest time and no interval
    within_by_value    number of these at which the default takes at most `Margins.equivalence` longer than the best
    forecast           launches that would decide the undecided points; None without such points, or without an estimate
    regrets            the largest regret of each operation where the default is slower, or without intervals; largest
                       first
    sentences          one per operation
    warnings           limits of the numbers, each with what to do
    too_few_launches   points with too few launches for a comparison
    launches           largest number of launches of these points
    launches_needed    number of launches that all of these points need
    launches_advice    how to measure them; empty if nothing is needed or nothing helps
    has_collectives    whether there is a collective, so that a default decides something
    settings_recorded  whether the campaign records how algorithms are selected without Timpani
    simulated          whether all times were simulated: they do not vary, and there is no library to configure
    too_busy           why more launches would decide little: what else the machine did; there is then no forecast
    decide_command     measures the launches of `forecast`; None without a forecast, or without such a command
    competitors        what was compared with the default: `algorithm`, `setting` or `setting or algorithm`
    winners            which of these are the best at the points where the default is slower
    arrivals           the arrival patterns, without `together`
    scope              the jobs that it holds for; None if unknown
    margins             by which it judges
    """

    decided: int
    equivalent: int
    slower: int
    undecided: int
    regrets: tuple[DefaultRegret, ...]
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    by_value: int = 0
    within_by_value: int = 0
    forecast: DecisionForecast | None = None
    too_busy: str = ""
    too_few_launches: int = 0
    launches: int = 0
    launches_needed: int = 0
    launches_advice: str = ""
    has_collectives: bool = True
    settings_recorded: bool = True
    simulated: bool = False
    decide_command: str | None = None
    competitors: str = "algorithm"
    winners: str = "algorithm"
    arrivals: tuple[str, ...] = ()
    scope: JobScope | None = None
    margins: Margins = STANDARD

    @property
    def largest_regret(self) -> DefaultRegret | None:
        """The largest regret; None without any."""
        return self.regrets[0] if self.regrets else None

    @property
    def is_conclusive(self) -> bool:
        """Whether something is significant, or at least one point had enough launches."""
        return self.decided > self.too_few_launches or self.equivalent + self.slower > 0


def summarize(
    decisions: pl.DataFrame,
    cells: pl.DataFrame,
    launch_seconds: float | None = None,
    launches_asked: int | None = None,
    settings: Settings | None = None,
    compared: pl.DataFrame | None = None,
    equal: EqualSchedules | None = None,
    scope: JobScope | None = None,
    margins: Margins = STANDARD,
) -> Verdict:
    """The verdict on a campaign, from its `decide` and its `estimate_cells`.

    launch_seconds   time of one launch of all cells
    launches_asked   requested by the study; None for an import, which cannot be repeated
    settings         None if the campaign does not record them
    compared         its `compare_with_default`; without it the verdict does not compare settings at other points
    equal            its `equal_schedules`: the verdict then gives all names of a schedule
    scope            the jobs that it holds for; None if unknown
    margins          by which `decisions` judge
    """
    decisions = _with_schedules(decisions, equal or {})
    decided = decisions.filter(pl.col("verdict").is_not_null())
    by_value = decided.filter(pl.col("verdict") == BY_VALUE)
    beaten = (pl.col("standing") == SLOWER) | ((pl.col("verdict") == BY_VALUE) & (pl.col("gain") > 1))
    largest = (
        decided.filter(beaten)
        .sort(pl.col("verdict") == BY_VALUE, -pl.col("gain"))
        .unique("collective", keep="first", maintain_order=True)
    )
    standing = dict(decided.group_by("standing").len().iter_rows())
    short = _too_few_launches(cells)
    batch = scope is not None and scope.batch
    by_collective = decisions.sort("collective").group_by("collective", maintain_order=True)
    return Verdict(
        decided=decided.height,
        equivalent=standing.get(EQUIVALENT, 0),
        slower=standing.get(SLOWER, 0),
        undecided=standing.get(UNDECIDED, 0),
        regrets=tuple(_default_regret(row, settings or {}, compared) for row in largest.iter_rows(named=True)),
        sentences=tuple(sentence(str(name), part, margins) for (name,), part in by_collective),
        warnings=(*cell_warnings(cells, launches_asked, batch), *same_simulated_times(cells)),
        by_value=by_value.height,
        within_by_value=by_value.filter(pl.col("default_regret") <= margins.equivalence).height,
        forecast=_launch_forecast(decided, cells, launch_seconds),
        too_few_launches=short.height,
        launches=max(short["launches"].to_list(), default=0),
        launches_needed=max(short["launches_needed"].to_list(), default=0),
        launches_advice=launches_advice(cells, launches_asked, batch),
        scope=scope,
        has_collectives=not set(cells["collective"]).isdisjoint(COLLECTIVES),
        settings_recorded=settings is not None,
        arrivals=tuple(sorted(set(cells["arrival"]) - {TOGETHER})),
        simulated=not cells.is_empty() and cells["status"].str.contains("simulated").all(),
        competitors=competitor_noun(cells.filter(~is_default())["label"]),
        winners=competitor_noun(decided.filter(pl.col("standing") == SLOWER)["best_label"]),
        margins=margins,
    )


def _with_schedules(decisions: pl.DataFrame, equal: EqualSchedules) -> pl.DataFrame:
    """The decisions with two columns: `schedules`, the names of each schedule with the lowest time, and `schedule`,
    their join."""
    columns = ("collective", "ranks", "message_bytes", "lowest")
    names = [
        list(dict.fromkeys(schedule_name(equal, collective, ranks, size, label) for label in labels))
        for collective, ranks, size, labels in decisions.select(columns).iter_rows()
    ]
    return decisions.with_columns(pl.Series("schedules", names, dtype=pl.List(pl.String))).with_columns(
        pl.col("schedules").list.join(" or ").alias("schedule")
    )


def _default_regret(decision: dict[str, Any], settings: Settings, compared: pl.DataFrame | None) -> DefaultRegret:
    values = {name: decision[name] for name in DefaultRegret.__dataclass_fields__ if name in decision}
    set_by = settings.get(decision["collective"], {}).get(decision["best_label"])
    costs = None if compared is None else at_other_points(compared, decision, decision["best_label"])
    parts = () if compared is None else gain_parts(compared, decision, decision["best_label"])
    return DefaultRegret(**values, set_by=set_by, at_other_points=costs, parts=parts)


def _launch_forecast(
    decided: pl.DataFrame, cells: pl.DataFrame, launch_seconds: float | None
) -> DecisionForecast | None:
    needed = sorted(decided["launches_to_decide"].drop_nulls())
    if not needed:
        return None
    half, most = (needed[ceil(share * len(needed)) - 1] for share in (0.5, DECIDED_SHARE))
    jobs, launches = (max(cells[name].drop_nulls().to_list(), default=0) for name in ("jobs", "launches"))
    done = max(1, jobs if jobs > 1 else launches)
    return DecisionForecast(
        len(needed),
        half,
        most,
        "job" if jobs > 1 else "launch",
        done,
        ceil(launches * (1 + 1 / done)),
        None if launch_seconds is None else launch_seconds * launches / done,
        variance_spread(done - 1),
    )


def _too_few_launches(cells: pl.DataFrame) -> pl.DataFrame:
    """The points with a default and a competitor, but too few launches to compare them."""
    return (
        cells.filter(pl.col("launches_needed").is_not_null())
        .group_by(POINT)
        .agg(
            (~is_default()).any().alias("has_others"),
            is_default().any().alias("has_default"),
            pl.min("launches"),
            pl.max("launches_needed"),
        )
        .filter(pl.col("has_default") & pl.col("has_others") & (pl.col("launches") < pl.col("launches_needed")))
    )
