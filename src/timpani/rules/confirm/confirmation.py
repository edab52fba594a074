"""Whether a table keeps its promise: each of its choices held against the default, and against the best, anew."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import rank_layouts
from timpani.campaign.run.failures import is_kill
from timpani.rules.confirm.across_launches import ratios_across_starts
from timpani.rules.confirm.confirmation_study import held_out, parts_by_file
from timpani.stats.compare import ALPHA, Samples, compare_families
from timpani.study.cell import (
    DEFAULT,
    OWN,
    Algorithm,
    beside_files,
    is_under_files,
    parse_parameters,
)
from timpani.study.schema import POINT, cell_of
from timpani.tuning.decide.points import REFERENCE_TIMES, compare_at_points, launch_medians
from timpani.tuning.decide.selection_table import Call, Rule, SelectionTable

EQUIVALENT = 1.25
"""Times whose ratio is shown to lie within this either way are taken for one algorithm's, where messages can't tell."""

_RESAMPLES = 2000

Proof = Literal["messages", "times", "other", "open", "failed"]
"""What shows that the files made the library run an algorithm, as `Confirmed` has it."""

Standing = Literal["gained", "kept", "lost", "undecided", "unknown"]
"""What became of a point, as `Confirmed` has it."""


@dataclass(frozen=True)
class ConfirmedRatio:
    """One time over another with its 95 % interval, a bound None where launches are too few.

    p_value  of the pair alone; None where nothing varies
    least    the smallest that p_value can be with so many launches, where they are paired; else 0
    """

    ratio: float
    low: float | None
    high: float | None
    significant: bool
    p_value: float | None = None
    least: float = 0.0

    @property
    def is_bounded(self) -> bool:
        """Whether launches were enough to show anything."""
        return self.low is not None and self.high is not None


_NOTHING = ConfirmedRatio(0.0, 0.0, 0.0, False)


@dataclass(frozen=True)
class Confirmed:
    """One point, and what the table says there.

    file       what follows the rules: the library with its own files, or under ours
    algorithm  of the table; None: the library's default
    standing   gained: the library with its files is significantly faster than the default, or, where that is not told
               by pairs, the choice is; lost: the choice is slower, or the library with its files; kept: neither, or it
               is the default; undecided: launches are too few to show either; unknown: the default or the choice has no
               time, and that isn't the files' fault
    gain       default's time / the choice's, both in the same launches; None where the table leaves it to the library
    by_file    default's time / the library's call with its files switched on, which has starts of its own; by what
               both are beside the same algorithms, where these can be forced under files too (`across_launches.py`)
    proof      whether the files made the library run the choice: `messages`: it sent the choice's, which aren't the
               default's; `times`: messages can't tell, and it took the same within EQUIVALENT; `other`: it sent
               other messages, or took another time; `open`: neither is shown; `failed`: a launch of the choice, or of
               the library with its files, gave no result or a wrong one
    regret     the choice's time over the best algorithm's, less 1, with the bounds that chance allows
    held_out   whether it is one of the sizes that were chosen beforehand, and at which nothing made the table
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
    held_out: bool

    @property
    def is_of_forced(self) -> bool:
        """Whether `standing` is of the choice where it is forced, since the files aren't held against it by pairs."""
        return self.algorithm is not None and not (self.by_file and self.by_file.least)


def confirm(table: SelectionTable, made_from: Campaign, measured: Campaign) -> list[Confirmed]:
    """Each point of `measured`, a campaign of `confirmation_study`, whose layout is known, in the order of POINT."""
    layouts = rank_layouts(measured)
    medians = launch_medians(measured.results)
    messages = _messages(measured)
    failed: dict[tuple[object, ...], set[Algorithm]] = {}
    for row in measured.results.filter(pl.col("error").is_not_null()).iter_rows(named=True):
        if not is_kill(row["error"]):
            failed.setdefault(tuple(row[name] for name in POINT), set()).add(_algorithm(row))
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
        new = call.message_bytes in held_out(call.collective, made_from)
        times = {_algorithm(row): row for row in rows.iter_rows(named=True)}
        turns = [
            (row["launch"], row["in_turn"], row["relative"], _algorithm(row))
            for row in results_at.get(point, measured.results.clear()).iter_rows(named=True)
        ]
        point_of = _Point(times, turns, frozenset(failed.get(point, ())), table.library, len(points))
        for part, file in parts_by_file(table):
            found.append(point_of.confirmed(call, where, part.decide(call), file, messages, new))
    return sorted(found, key=lambda each: (each.call, each.placement, each.mode, each.machine, each.file))


def losing(confirmed: Iterable[Confirmed]) -> list[Confirmed]:
    """Points at which rules make the library slower or fail, or a rule isn't followed."""
    return [
        each
        for each in confirmed
        if each.standing == "lost" or each.proof == "failed" or (each.algorithm and each.proof == "other")
    ]


def without(table: SelectionTable, lost: Iterable[Confirmed]) -> SelectionTable:
    """`table` without the rules that decide one of these points; where none does, without all that its files say of the
    collective: one file may change calls that it has no rule for."""
    wrong: set[Rule] = set()
    for each in lost:
        of_file = (
            rule
            for rule in table.of([each.call.collective])
            if (rule.algorithm.provider == OWN) == (each.file.provider == OWN)
        )
        wrong.update(rule for rule in of_file if each.algorithm is None or rule.applies(each.call))
    return replace(table, rules=tuple(rule for rule in table.rules if rule not in wrong))


def with_regret(confirmed: Iterable[Confirmed]) -> list[Confirmed]:
    """The held-out points at which regret is known."""
    return [each for each in confirmed if each.held_out and each.standing != "unknown" and each.proof != "failed"]


def mean_regret(confirmed: Iterable[Confirmed], seed: int = 1) -> tuple[float, float, float] | None:
    """The mean regret over the held-out points, and its 95 % interval by resampling these; None where there are none.

    The best algorithm of a point is chosen from the same times, which makes regret look larger than it is.
    """
    regrets = np.array([max(0.0, each.regret.ratio) for each in with_regret(confirmed)])
    if not len(regrets):
        return None
    drawn = np.random.default_rng(seed).choice(regrets, (_RESAMPLES, len(regrets))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(regrets.mean()), float(low), float(high)


@dataclass(frozen=True)
class _Point:
    """The times of all algorithms at one point, and what took turns there, as `ratios_across_starts` takes it."""

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
        new: bool,
    ) -> Confirmed:
        """What was found here."""
        default = Algorithm(self.library, DEFAULT)
        choice = chosen or default
        place = str(where["placement"]), str(where["mode"]), str(where["machine"])
        if default not in self.rows or (choice not in self.rows and choice not in self.failed):
            return Confirmed(call, *place, file, chosen, "unknown", None, None, "open", _NOTHING, choice.label, new)
        gain = self._ratio(default, choice) if chosen in self.rows and chosen else None
        by_file = self._across(default, file) if file in self.rows else None
        slower = [each for each in (gain,) if each and each.significant and each.ratio < 1]
        slower += [each for each in (by_file,) if each and each.ratio < 1 and self._stands_out(each)]
        shows = by_file if by_file and by_file.least else gain  # the files' own ratio where it is sharp
        faster = gain is not None and shows is not None and shows.significant and shows.ratio > 1
        bounded = shows is None or shows.is_bounded
        broken = bool({choice, file} & self.failed)
        best, regret = self._regret(choice) if choice in self.rows else (choice, _NOTHING)
        return Confirmed(
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
            new,
        )

    def _ratio(self, reference: Algorithm, other: Algorithm) -> ConfirmedRatio:
        return next(self._ratios(reference, [other]))

    def _across(self, default: Algorithm, file: Algorithm) -> ConfirmedRatio:
        """default / file, by what took turns with each where half of the launches or more tell, else by medians."""
        ratios = ratios_across_starts(self.turns, default, file)
        launches = len({launch for launch, _, _, algorithm in self.turns if algorithm == file})
        if 2 * len(ratios) < launches or not ratios:
            return self._ratio(default, file)
        found = compare_families([Samples((), ratios)], np.zeros(1, dtype=np.int64))
        low, high = (None if bound in (0, np.inf) else float(bound) for bound in (found.low[0], found.high[0]))
        least = 2 / 2 ** len(ratios)
        return ConfirmedRatio(
            float(found.ratio[0]), low, high, bool(found.significant[0]), float(found.p_value[0]), least
        )

    def _ratios(self, reference: Algorithm, others: list[Algorithm]) -> Iterator[ConfirmedRatio]:
        """reference's time / each other's, corrected together."""
        theirs = self.rows[reference]
        held_against = {column: theirs[name] for name, column in REFERENCE_TIMES.items()}
        held_against["reference_variant"] = theirs["variant"]
        pairs = pl.DataFrame([{**self.rows[other], **held_against} for other in others], infer_schema_length=None)
        for row in compare_at_points(pairs).iter_rows(named=True):
            least = 2 / 2 ** row["paired"] if row["paired"] else 0.0
            yield ConfirmedRatio(
                row["ratio"], row["ratio_low"], row["ratio_high"], row["significant"], row["p_value"], least
            )

    def _regret(self, choice: Algorithm) -> tuple[Algorithm, ConfirmedRatio]:
        """The best algorithm, and what the choice takes more than it."""
        rivals = [each for each in self.rows if each != choice and not is_under_files(each.name)]
        if not rivals:
            return choice, _NOTHING
        ratios = list(self._ratios(choice, rivals))
        best, most = max(zip(rivals, ratios, strict=True), key=lambda each: each[1].ratio)
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
        beside = beside_files(choice)
        ratio = self._ratio(beside if beside in self.rows else choice, file)
        if choice == default:
            ratio = self._across(default, file)
        bounds = (ratio.low, ratio.high)
        if None in bounds:
            return "open"
        low, high = (float(bound) for bound in bounds if bound is not None)
        if low >= 1 / EQUIVALENT and high <= EQUIVALENT:
            return "times"
        return "other" if (low > EQUIVALENT or high < 1 / EQUIVALENT) and self._stands_out(ratio) else "open"

    def _stands_out(self, found: ConfirmedRatio) -> bool:
        """Whether a difference is more than one of so many points shows by chance (Bonferroni); of pairs it is enough
        that all launches agree: ten can't say more."""
        return found.significant and (found.p_value is None or found.p_value <= max(ALPHA / self.points, found.least))


def _algorithm(row: Mapping[str, object]) -> Algorithm:
    return Algorithm(str(row["provider"]), str(row["algorithm"]), parse_parameters(str(row["parameters"])))


def _messages(campaign: Campaign) -> dict[tuple[object, ...], str]:
    """What each cell sent in one call, by collective, ranks, placement, size, mode and algorithm."""
    found: dict[tuple[object, ...], str] = {}
    for proof in campaign.proofs:
        cell = cell_of(proof)
        key = (cell.collective, cell.ranks, cell.placement, cell.message_bytes, cell.mode, cell.algorithm)
        found[key] = f"{proof['messages']} {proof['bytes']}"
    return found
