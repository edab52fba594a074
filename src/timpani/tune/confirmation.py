"""Results of a confirmation: each choice of a table, measured again, compared with the default and with the best."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import Any, Literal, Self

import numpy as np
import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import rank_layouts
from timpani.campaign.run.agenda import is_kill
from timpani.judge.changes import FASTER, ChangeLimit
from timpani.judge.points import REFERENCE_COLUMNS, compare_at_points, launch_medians
from timpani.stats.compare import ALPHA, Samples, compare_families
from timpani.study.cell import (
    DEFAULT,
    OWN,
    Algorithm,
    Cell,
    is_under_files,
    under_files,
)
from timpani.study.schema import POINT, algorithm_of, cell_of
from timpani.study.selection import Call, Rule, SelectionTable
from timpani.tune.confirmation_study import parts_by_file, test_sizes


def ratios_across_starts(
    rows: Iterable[tuple[int, str | None, float | None, Algorithm]], default: Algorithm, files: Algorithm
) -> list[float]:
    """default / files at one point: one ratio for each launch that measured both together with the same algorithms.

    rows  launch, `interleaving`, `relative` and algorithm of each result at the point
    """
    by_launch: dict[int, dict[str, dict[Algorithm, float]]] = {}
    for launch, interleaving, relative, algorithm in rows:
        if interleaving and relative:
            by_launch.setdefault(launch, {}).setdefault(interleaving, {})[algorithm] = log(relative)
    found = []
    for turns in by_launch.values():
        without = next((times for times in turns.values() if default in times), {})
        under = next((times for times in turns.values() if files in times), {})
        shared = [each for each in without if under_files(each) in under]
        if shared:
            excess = _log_excess(without, default, shared)
            found.append(exp(excess - _log_excess(under, files, map(under_files, shared))))
    return found


def _log_excess(logs: Mapping[Algorithm, float], one: Algorithm, others: Iterable[Algorithm]) -> float:
    """The log time of `one` minus the mean log time of `others`."""
    values = [logs[each] for each in others]
    return logs[one] - sum(values) / len(values)


EQUIVALENT = 1.25
"""Equivalence margin: two times are attributed to one algorithm if the interval of their ratio lies within this factor.

It applies only if the counted messages can't distinguish the algorithms.
"""

_RESAMPLES = 2000

Proof = Literal["messages", "times", "other", "open", "failed"]
"""Evidence that the files made the library run an algorithm; see `ConfirmedPoint`."""

Standing = Literal["gained", "kept", "lost", "undecided", "unknown"]
"""Outcome of a point; see `ConfirmedPoint`."""


@dataclass(frozen=True)
class ConfirmedRatio:
    """A ratio of two times with its 95 % interval; a bound is None if there are too few launches.

    p_value      of this pair alone, uncorrected; None if the times do not vary
    min_p_value  smallest p-value possible with this number of paired launches; 0 if the launches are not paired
    """

    ratio: float
    low: float | None
    high: float | None
    significant: bool
    p_value: float | None = None
    min_p_value: float = 0.0

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """The ratio in a row of `compare_at_points`."""
        of_launches = row["paired"] and row["another_low"] is None  # over jobs any p-value is possible
        least = 2 / 2 ** row["paired"] if of_launches else 0.0
        return cls(row["ratio"], row["ratio_low"], row["ratio_high"], row["significant"], row["p_value"], least)

    @property
    def is_bounded(self) -> bool:
        """Whether there were enough launches for an interval."""
        return self.low is not None and self.high is not None

    def is_significant_among(self, points: int) -> bool:
        """Whether a difference is significant after a Bonferroni correction for the number of points.

        Ten paired launches can't reach a smaller p-value than `min_p_value`, so that value is accepted too.
        """
        corrected = max(ALPHA / points, self.min_p_value)
        return self.significant and (self.p_value is None or self.p_value <= corrected)


_NO_REGRET = ConfirmedRatio(0.0, 0.0, 0.0, False)


@dataclass(frozen=True)
class ConfirmedPoint:
    """The result of confirming the table's choice at one point.

    file       the call that follows the rules: the library with its tuning files, or Timpani's rules
    algorithm  the table's choice; None: the library's default
    standing   outcome:
               `gained`     significantly faster than the default. This compares the library with its files if launches
                            pair them with the default, and the forced choice if they don't.
               `lost`       the choice or the library with its files is slower or failed.
               `kept`       neither, or the choice is the default.
               `undecided`  too few launches to show a difference.
               `unknown`    the default or the choice has no time, for a reason other than the files.
    gain       default's time / choice's time, in the same launches; None if the table leaves the call to the library
    by_file    default's time / time of the library with its files, which runs in separate starts. Both are compared
               with the same forced algorithms if these can also be forced with files (`across_launches.py`).
    proof      evidence that the files made the library run the choice:
               `messages`  it sent the messages of the choice, and the default sends others.
               `times`     messages can't distinguish the two, and the times are equal within EQUIVALENT.
               `other`     it sent other messages or took another time.
               `open`      none of these is shown.
               `failed`    a launch of the choice or of the library with its files gave no result or a wrong one.
    regret     choice's time / best algorithm's time - 1, with its 95 % interval
    test_size  whether the size was chosen in advance as a test point, not measured to generate the table
    """

    call: Call
    placement: str
    mode: str
    machine: str
    file: Algorithm
    algorithm: Algorithm | None
    standing: Standing
    gain: ConfirmedRatio | None
    by_file: ConfirmedRatio | None
    proof: Proof
    regret: ConfirmedRatio
    best: str
    test_size: bool

    @property
    def is_of_forced(self) -> bool:
        """Whether `standing` describes the forced choice, because no launches pair the files with the default."""
        return self.algorithm is not None and not (self.by_file and self.by_file.min_p_value)


@dataclass(frozen=True)
class Unreached:
    """What a budget left unmeasured in a confirmation.

    calls   those with a rule for which it left no launch
    others  whether algorithms that no rule names were left out, and the sizes at which rules are compared with them
    """

    calls: Sequence[Call] = ()
    others: bool = False


def confirm(table: SelectionTable, made_from: Campaign, measured: Campaign) -> list[ConfirmedPoint]:
    """Each point of `measured` with a known layout, in the order of POINT; `measured` ran a `confirmation_study`.

    The rules are compared with the library's choice under the table's setting, in whose variant they were measured.
    """
    measured = measured.of_variant(table.variant)
    layouts = rank_layouts(measured)
    medians = launch_medians(measured.results)
    messages = _messages(measured)
    failed: dict[tuple[object, ...], set[Algorithm]] = {}
    for row in measured.results.filter(pl.col("error").is_not_null()).iter_rows(named=True):
        if not is_kill(row["error"]):
            failed.setdefault(tuple(row[name] for name in POINT), set()).add(algorithm_of(row))
    results_at = dict(measured.results.filter(pl.col("error").is_null()).group_by(POINT))
    times_at = dict(medians.group_by(POINT))
    points = measured.results.select(POINT).unique().rows()
    found = []
    for point in points:
        where = dict(zip(POINT, point, strict=True))
        rows = times_at.get(point, medians.clear())
        layout = layouts.get((where["ranks"], where["placement"]))
        if layout is None:
            continue
        call = Call(where["collective"], where["ranks"], layout.nodes, layout.per_node, where["message_bytes"])
        test_size = call.message_bytes in test_sizes(call.collective, made_from)
        times = {algorithm_of(row): row for row in rows.iter_rows(named=True)}
        turns = [
            (row["launch"], row["interleaving"], row["relative"], algorithm_of(row))
            for row in results_at.get(point, measured.results.clear()).iter_rows(named=True)
        ]
        at_point = _PointTimes(times, turns, frozenset(failed.get(point, ())), table.library, len(points))
        for part, file in parts_by_file(table):
            found.append(at_point.confirmed(call, where, part.decide(call), file, messages, test_size))
    return sorted(found, key=lambda each: (each.call, each.placement, each.mode, each.machine, each.file))


def unreached_calls(
    table: SelectionTable, made_from: Campaign, measured: Campaign, planned: Iterable[Cell]
) -> list[Call]:
    """The calls with a rule among the `planned` cells for which the budget left `measured` no launch."""
    layouts = rank_layouts(made_from) | rank_layouts(measured)
    reached = set(measured.results.select("collective", "ranks", "message_bytes", "placement").rows())
    found = set()
    for cell in planned:
        layout = layouts.get((cell.ranks, cell.placement))
        if layout and (cell.collective, cell.ranks, cell.message_bytes, cell.placement) not in reached:
            found.add(Call(cell.collective, cell.ranks, layout.nodes, layout.per_node, cell.message_bytes))
    return sorted(call for call in found if table.decide(call))


def losing_points(confirmed: Iterable[ConfirmedPoint]) -> list[ConfirmedPoint]:
    """Points at which rules make the library slower or make it fail, or at which the library ignores a rule."""
    return [
        each
        for each in confirmed
        if each.standing == "lost" or each.proof == "failed" or (each.algorithm and each.proof == "other")
    ]


def without_losing_rules(table: SelectionTable, lost: Iterable[ConfirmedPoint]) -> SelectionTable:
    """`table` without the rules that decide one of the `lost` points.

    If no rule decides a lost point, all rules of its collective in the same file are dropped: a file may change calls
    for which it has no rule. A rule that was chosen for its order stays where it is only slower.
    """
    wrong: set[Rule] = set()
    for each in lost:
        of_file = (
            rule
            for rule in table.rules_for([each.call.collective])
            if (rule.algorithm.provider == OWN) == (each.file.provider == OWN)
        )
        only_slower = each.proof not in ("failed", "other")
        wrong.update(
            rule
            for rule in of_file
            if (each.algorithm is None or rule.applies(each.call)) and not (rule.for_order and only_slower)
        )
    return replace(table, rules=tuple(rule for rule in table.rules if rule not in wrong))


def with_regret(confirmed: Iterable[ConfirmedPoint]) -> list[ConfirmedPoint]:
    """The test points whose regret is known."""
    return [each for each in confirmed if each.test_size and each.standing != "unknown" and each.proof != "failed"]


def mean_regret(confirmed: Iterable[ConfirmedPoint]) -> tuple[float, float, float] | None:
    """Mean regret over the test points and its 95 % bootstrap interval over these points; None without test points.

    The best algorithm of a point is selected from the same times, so the estimate is biased upwards.
    """
    regrets = np.array([max(0.0, each.regret.ratio) for each in with_regret(confirmed)])
    if not len(regrets):
        return None
    drawn = np.random.default_rng(1).choice(regrets, (_RESAMPLES, len(regrets))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(regrets.mean()), float(low), float(high)


@dataclass(frozen=True)
class _PointTimes:
    """The times of all algorithms at one point, and its interleaved results as input of `ratios_across_starts`."""

    rows: Mapping[Algorithm, Mapping[str, object]]
    turns: Sequence[tuple[int, str | None, float | None, Algorithm]]
    failed: frozenset[Algorithm]
    library: str
    points: int

    def confirmed(
        self,
        call: Call,
        where: Mapping[str, object],
        chosen: Algorithm | None,
        file: Algorithm,
        messages: Mapping[tuple[object, ...], str],
        test_size: bool,
    ) -> ConfirmedPoint:
        """The result of the choice `chosen` in `file`; None: the file leaves the call to the library."""
        default = Algorithm(self.library, DEFAULT)
        choice = chosen or default
        place = str(where["placement"]), str(where["mode"]), str(where["machine"])
        if default not in self.rows or (choice not in self.rows and choice not in self.failed):
            return ConfirmedPoint(
                call, *place, file, chosen, "unknown", None, None, "open", _NO_REGRET, choice.label, test_size
            )
        gain = self._ratio(default, choice) if chosen in self.rows and chosen else None
        by_file = self._ratio_across_starts(default, file) if file in self.rows else None
        slower = [each for each in (gain,) if each and each.significant and each.ratio < 1]
        slower += [each for each in (by_file,) if each and each.ratio < 1 and each.is_significant_among(self.points)]
        deciding = by_file if by_file and by_file.min_p_value else gain  # paired launches are more precise
        faster = gain is not None and deciding is not None and deciding.significant and deciding.ratio > 1
        bounded = deciding is None or deciding.is_bounded
        broken = bool({choice, file} & self.failed)
        best, regret = self._regret(choice) if choice in self.rows else (choice, _NO_REGRET)
        return ConfirmedPoint(
            call,
            *place,
            file,
            chosen,
            "lost" if slower or broken else "gained" if faster else "kept" if bounded else "undecided",
            gain,
            by_file,
            "failed" if broken else self._proof(where, choice, file, messages),
            regret,
            best.label,
            test_size,
        )

    def _ratio(self, reference: Algorithm, other: Algorithm) -> ConfirmedRatio:
        return next(self._ratios(reference, [other]))

    def _ratio_across_starts(self, default: Algorithm, file: Algorithm) -> ConfirmedRatio:
        """default / file: over several jobs; in one from paired starts if at least half of the launches have a pair,
        else from medians."""
        if self.rows[file]["jobs"] != 1:
            return self._ratio(default, file)
        ratios = ratios_across_starts(self.turns, default, file)
        launches = len({launch for launch, _, _, algorithm in self.turns if algorithm == file})
        if 2 * len(ratios) < launches or not ratios:
            return self._ratio(default, file)
        found = compare_families([Samples((), ratios)], np.zeros(1, dtype=np.int64))
        low, high = (None if bound in (0, np.inf) else float(bound) for bound in (found.low[0], found.high[0]))
        min_p_value = 2 / 2 ** len(ratios)
        return ConfirmedRatio(
            float(found.ratio[0]), low, high, bool(found.significant[0]), float(found.p_value[0]), min_p_value
        )

    def _ratios(self, reference: Algorithm, others: list[Algorithm]) -> Iterator[ConfirmedRatio]:
        """reference's time / each other's time, corrected for multiple comparisons."""
        row_of_reference = self.rows[reference]
        of_reference = {column: row_of_reference[name] for name, column in REFERENCE_COLUMNS.items()}
        pairs = pl.DataFrame([{**self.rows[other], **of_reference} for other in others], infer_schema_length=None)
        yield from map(ConfirmedRatio.from_row, compare_at_points(pairs).iter_rows(named=True))

    def _regret(self, choice: Algorithm) -> tuple[Algorithm, ConfirmedRatio]:
        """The best algorithm, and the regret of the choice relative to it."""
        competitors = [each for each in self.rows if each != choice and not is_under_files(each.name)]
        if not competitors:
            return choice, _NO_REGRET
        ratios = list(self._ratios(choice, competitors))
        best, most = max(zip(competitors, ratios, strict=True), key=lambda each: each[1].ratio)
        if most.ratio <= 1:
            return choice, ConfirmedRatio(0.0, 0.0, None if most.high is None else max(0.0, most.high - 1), False)
        low = None if most.low is None else most.low - 1
        return best, ConfirmedRatio(most.ratio - 1, low, None if most.high is None else most.high - 1, most.significant)

    def _proof(
        self,
        where: Mapping[str, object],
        choice: Algorithm,
        file: Algorithm,
        messages: Mapping[tuple[object, ...], str],
    ) -> Proof:
        key = tuple(where[name] for name in ("collective", "ranks", "placement", "message_bytes", "mode"))
        default = Algorithm(self.library, DEFAULT)
        sent = [messages.get((*key, each)) for each in (choice, file, default)]
        if None not in sent:
            by_choice, by_file, by_default = sent
            if by_choice != by_file:
                return "other"
            if choice == default or by_choice != by_default:
                return "messages"
        if file not in self.rows:
            return "open"
        with_files = under_files(choice)
        ratio = self._ratio(with_files if with_files in self.rows else choice, file)
        if choice == default:
            ratio = self._ratio_across_starts(default, file)
        bounds = (ratio.low, ratio.high)
        if None in bounds:
            return "open"
        low, high = (float(bound) for bound in bounds if bound is not None)
        if low >= 1 / EQUIVALENT and high <= EQUIVALENT:
            return "times"
        return (
            "other"
            if (low > EQUIVALENT or high < 1 / EQUIVALENT) and ratio.is_significant_among(self.points)
            else "open"
        )


def _messages(campaign: Campaign) -> dict[tuple[object, ...], str]:
    """Counted messages and bytes of one call of each cell, by collective, ranks, placement, size, mode, algorithm."""
    found: dict[tuple[object, ...], str] = {}
    for proof in campaign.proofs:
        cell = cell_of(proof)
        key = (cell.collective, cell.ranks, cell.placement, cell.message_bytes, cell.mode, cell.algorithm)
        found[key] = f"{proof['messages']} {proof['bytes']}"
    return found


def changes_meeting(limit: ChangeLimit, confirmed: Iterable[ConfirmedPoint]) -> list[float]:
    """The largest change of each point that meets `limit`, as a share of the shorter time.

    Only the significant ratios that decided the standing are included. A launch that failed has no ratio and is left to
    `losing`.
    """
    wanted = "gained" if limit.standing == FASTER else "lost"
    largest = []
    for each in confirmed:
        if each.standing != wanted:
            continue
        ratios = (found.ratio for found in (each.gain, each.by_file) if found and found.significant)
        if met := [limit.change(ratio) for ratio in ratios if limit.is_met(ratio)]:
            largest.append(max(met))
    return largest
