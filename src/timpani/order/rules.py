"""What rules of a tuning change in the order in which reductions add, and rules for reproducible results."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from statistics import geometric_mean
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.plan.plan import Group, PlannedCell
from timpani.campaign.run.session import Session
from timpani.campaign.run.start import Starter
from timpani.errors import UserError
from timpani.judge.decide import compare_with_default
from timpani.judge.raced import raced_results
from timpani.native.mpi import Mpi
from timpani.order.commands import cost, order_study, read_orders
from timpani.order.document import names_in_words
from timpani.order.naming import Schedules
from timpani.order.reading import DATATYPE, ELEMENT_BYTES, OPERATOR, Order, Reading, is_rooted, read_start
from timpani.order.tree import MAX_RANKS
from timpani.study.cell import DEFAULT, OWN, Algorithm, Cell
from timpani.study.operations import OPERATIONS
from timpani.study.schema import POINT, algorithm_of
from timpani.study.selection import Evidence, Rule, SelectionTable, Span, change_of_order
from timpani.study.sizes import show_size
from timpani.study.words import counted, interval, show_seconds, significant
from timpani.tune.workflow import OrderOfRules

Note = Callable[[str], None]
Point = tuple[int, str, int]
"""Ranks, placement and bytes."""

Readings = Mapping[Algorithm, Mapping[tuple[Point, int], Reading]]
"""Of a collective, by algorithm, point and root."""

_MOST_SECONDS = 20
"""What rules change is not read unasked if that takes longer."""


def ordered_rules(
    table: SelectionTable, campaign: Campaign, library: Mpi, order: OrderOfRules, note: Note
) -> SelectionTable:
    """The table with what each rule for a reduction changes in its order, and only the rules that `order` asks for.

    Calls are read where `campaign` was measured. A line through `note` for each rule.
    """
    if campaign.header.study.in_place:
        if order == "any":
            return table
        raise UserError("no order is read from calls in place, which the campaign measured", f"leave out --{order}")
    names = dict.fromkeys(campaign.results["collective"]) if order == "reproducible" else {}
    names |= dict.fromkeys(rule.collective for rule in table.rules)
    found: list[Rule] = []
    for name in names:
        rules = table.rules_for([name])
        if not OPERATIONS[name].reduces:
            found += rules
        elif order == "reproducible":
            found += _reproducible(name, rules, campaign, library, note)
        else:
            found += _of_collective(rules, campaign, library, order, note)
    return replace(table, rules=tuple(sorted(found, key=lambda rule: rule.algorithm.provider == OWN)))


def _of_collective(
    rules: Sequence[Rule], campaign: Campaign, library: Mpi, order: OrderOfRules, note: Note
) -> Iterator[Rule]:
    name = rules[0].collective
    points = list(dict.fromkeys(point for rule in rules for point in _points(rule, campaign)))
    algorithms = [Algorithm(library.kind, DEFAULT), *(rule.algorithm for rule in rules)]
    readings = _read(name, algorithms, points, campaign, library, note, unasked=order == "any")
    for each in rules:
        rule = with_order(each, readings, _points(each, campaign), every_root=order != "any")
        left_out = order == "same-order" and rule.reordered != ()
        note(f"{change_of_order(rule)}{': left out' if left_out else ''}")
        if not left_out:
            yield rule


def with_order(rule: Rule, readings: Readings, points: Collection[Point], every_root: bool) -> Rule:
    """The rule with the sizes at which its order differs from the default's; unknown where either wasn't read.

    every_root  whether a rooted collective must have been read at each root, or at root 0 alone
    """
    changed, known = set[int](), bool(points)
    default = next((found for name, found in readings.items() if name.is_default), {})
    own = readings.get(rule.algorithm, {})
    for place in _places(rule.collective, points, every_root):
        one, other = default.get(place), own.get(place)
        if not (one and other and one.is_readable and other.is_readable):
            known = False
        elif not one.same_bits(other):
            changed.add(place[0][2])
    return replace(rule, reordered=tuple(sorted(changed)) if changed or known else None)


def _places(collective: str, points: Iterable[Point], every_root: bool = True) -> Iterator[tuple[Point, int]]:
    """Each point with each root that it has, or with root 0."""
    has_others = every_root and is_rooted(collective)
    return ((point, root) for point in points for root in range(point[0] if has_others else 1))


def _reproducible(
    collective: str, rules: Sequence[Rule], campaign: Campaign, library: Mpi, note: Note
) -> Iterator[Rule]:
    """For each rank count the fastest algorithm that adds in one order at all points, the library's if it has one;
    where the default does, the rules that add as it does."""
    everywhere = _points(Rule(collective, Algorithm(library.kind, DEFAULT)), campaign)
    points = [each for each in everywhere if each[2] and each[2] % ELEMENT_BYTES == 0]
    times = defaultdict[tuple[int, Algorithm], dict[object, dict[str, Any]]](dict)
    fastest = defaultdict[object, float](lambda: 1.0)  # default's time / the fastest algorithm's, by point
    for row in compare_with_default(raced_results(campaign)).filter(collective=collective).iter_rows(named=True):
        point = tuple(row[name] for name in POINT)
        times[row["ranks"], algorithm_of(row)][point] = row
        fastest[point] = max(fastest[point], row["ratio"])
    default, *others = dict.fromkeys([Algorithm(library.kind, DEFAULT), *(name for _, name in times)])
    readings = _read(collective, [default, *others], points, campaign, library, note)
    for ranks in sorted({point[0] for point in points}):
        here = [point for point in points if point[0] == ranks]
        where = f"{collective} on {counted(ranks, 'rank')}"
        read = f"in one order at {counted(len(here), 'point')}"
        if _adds_in_one_order(collective, readings.get(default, {}), here):
            note(f"{where}: the default adds {read}, so only rules that change no bit are kept")
            annotated = (with_order(rule, readings, here, True) for rule in rules if ranks in rule.ranks)
            yield from (rule for rule in annotated if rule.reordered == ())
            continue
        measured = {name: rows for (count, name), rows in times.items() if count == ranks and name in others}
        most = max(map(len, measured.values()), default=0)
        candidates = [
            (name.provider == OWN, 1 / geometric_mean(row["ratio"] for row in rows.values()), name)
            for name, rows in measured.items()
            if len(rows) == most and _adds_in_one_order(collective, readings.get(name, {}), here)
        ]
        if not candidates:
            note(f"{where}: no measured algorithm adds {read}: the library chooses")
            continue
        _, cost, name = min(candidates)
        rows = sorted(measured[name].values(), key=itemgetter("ratio"), reverse=True)
        note(f"{where}: {name.label} adds {read} and takes {_cost(cost, rows)}")
        by_size = {row["message_bytes"]: Evidence(*(row[key] for key in _EVIDENCE)) for row in rows}
        regret = max(fastest[point] / row["ratio"] - 1 for point, row in measured[name].items())
        evidence = tuple(by_size[size] for size in sorted(by_size))
        rule = Rule(collective, name, Span(ranks, ranks), evidence=evidence, regret=regret, for_order=True)
        yield with_order(rule, readings, here, True)


def _cost(mean: float, rows: Sequence[Mapping[str, Any]]) -> str:
    """The time of an algorithm in the default's, in words: the mean, and that of the last of `rows`."""
    worst = rows[-1]
    low, high = (1 / bound if bound else None for bound in (worst["ratio_high"], worst["ratio_low"]))
    bounds = f"95 % interval {interval(low, high)}" if low and high else "too few launches for an interval"
    at = show_size(worst["message_bytes"])
    return (
        f"{significant(mean)} times the default's time (geometric mean of {counted(len(rows), 'point')}), "
        f"{significant(1 / worst['ratio'])} times at {at} ({bounds})"
    )


_EVIDENCE = ("message_bytes", "ratio", "ratio_low", "ratio_high", "launches")


def _adds_in_one_order(collective: str, found: Mapping[tuple[Point, int], Reading], points: Iterable[Point]) -> bool:
    """Whether each rank adds in one order at all points, root by root."""
    orders = defaultdict[tuple[int, int], set[Order]](set)
    for place in _places(collective, points):
        reading = found.get(place)
        if reading is None or reading.changes or not reading.is_readable:
            return False
        for rank, of_rank in enumerate(reading.orders):
            orders[place[1], rank].update(of_rank)
    return bool(orders) and all(len(each) < 2 for each in orders.values())


def _points(rule: Rule, campaign: Campaign) -> list[Point]:
    """Where a rule was measured; of a rule without evidence everywhere."""
    sizes = {each.message_bytes for each in rule.evidence}
    measured = campaign.results.filter(collective=rule.collective).select("ranks", "placement", "message_bytes")
    return [
        (ranks, placement, size)
        for ranks, placement, size in measured.unique().sort(pl.all()).rows()
        if ranks in rule.ranks and (not sizes or size in sizes)
    ]


def _read(
    collective: str,
    algorithms: Iterable[Algorithm],
    points: Collection[Point],
    campaign: Campaign,
    library: Mpi,
    note: Note,
    unasked: bool = False,
) -> Readings:
    """The readings at these points that have any; at one root and only if that takes few seconds if `unasked`."""
    ranks = sorted({point[0] for point in points if 2 <= point[0] <= MAX_RANKS})
    sizes = sorted({point[2] for point in points if point[2] and point[2] % ELEMENT_BYTES == 0})
    if not (ranks and sizes):
        return {}
    options = {
        "algorithms": ",".join(dict.fromkeys("default" if each.is_default else str(each) for each in algorithms)),
        "ranks": ",".join(map(str, ranks)),
        "sizes": ",".join(map(str, sizes)),
        "placement": sorted({point[1] for point in points}),
    }
    place = campaign.header.machine
    session = Session.prepare(order_study([collective], options), str(library.mpirun), True, place.cluster, place.hosts)
    for skipped in session.plan.skipped:
        note(skipped.note)

    def again(cell: Cell) -> bool:
        return is_rooted(cell.collective) and not unasked

    if unasked and (seconds := cost(session.plan, again)[1]) > _MOST_SECONDS:
        note(f"{collective}: the order of addition is not read, which would take about {show_seconds(seconds)}")
        return {}
    found = defaultdict[Algorithm, dict[tuple[Point, int], Reading]](dict)
    for each in read_orders(session, note, again):
        cell = each.cell
        found[cell.algorithm][(cell.ranks, cell.placement, cell.message_bytes), each.root] = each
    return found


def name_uncounted(starter: Starter, group: Group, cells: Sequence[PlannedCell]) -> None:
    """Name the algorithms of reductions by their order, for a library that counts no messages, in notes."""
    reductions = {each.cell for each in cells if OPERATIONS[each.cell.collective].reduces}
    if not reductions:
        return
    if (group.arguments.datatype, group.arguments.operator) != (DATATYPE, OPERATOR):
        starter.note("sums of doubles show how they are added: --datatype double")
        return
    if group.arguments.in_place:
        starter.note("the order of addition is read from calls that are not in place")
        return
    names = Schedules.of_programs(group.mpi).names
    part = starter.plan.restricted_to(reductions.__contains__)
    for each in read_start(starter, part):
        what = f"{each.cell.collective} {each.cell.algorithm.label}, {each.point}"
        starter.note(f"{what}: adds as {names_in_words(each, names)}")
