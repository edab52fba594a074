"""What rules of a tuning change in the results of reductions: no bit, or the order of addition."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from timpani.campaign.folder.load import Campaign
from timpani.campaign.plan.plan import Group, PlannedCell
from timpani.campaign.run.session import Session
from timpani.campaign.run.start import Starter
from timpani.errors import UserError
from timpani.native.mpi import Mpi
from timpani.order.commands import order_study, read_orders
from timpani.order.document import names_in_words
from timpani.order.naming import Schedules
from timpani.order.reading import DATATYPE, ELEMENT_BYTES, OPERATOR, Reading, is_rooted, read_launch
from timpani.study.cell import Algorithm
from timpani.study.operations import OPERATIONS
from timpani.study.selection import Rule, SelectionTable, show_span
from timpani.study.sizes import show_sizes
from timpani.study.words import counted

Note = Callable[[str], None]
Point = tuple[int, str, int, int]
"""Ranks, placement, bytes and root of a call; the root is 0 if the collective has no root."""


@dataclass(frozen=True)
class RuleChange:
    """What a rule changes where it was measured.

    points   the readings that were wanted: each count of ranks, placement, size and root
    unread   those at which its order or the default's could not be read
    changed  the sizes at which the two orders differ, or a call's from the next
    """

    rule: Rule
    points: int
    unread: int
    changed: tuple[int, ...]

    @property
    def keeps_order(self) -> bool:
        """Whether it reduces nothing, or both orders are known and equal at all points."""
        if not OPERATIONS[self.rule.collective].reduces:
            return True
        return self.points > 0 and not self.unread and not self.changed

    @property
    def text(self) -> str:
        """In words."""
        rule = self.rule
        where = f"{rule.collective} {rule.algorithm.label}, {show_span(rule.ranks)} ranks"
        if not OPERATIONS[rule.collective].reduces:
            return f"{where}: adds nothing"
        if self.changed:
            return f"{where}: changes the order of addition at {show_sizes(self.changed)}"
        points = counted(self.points, "point")
        if not self.keeps_order:
            return f"{where}: the order of addition could not be read ({self.unread} of {points})"
        return f"{where}: adds doubles as the default does ({points} read)"


def keep_order(table: SelectionTable, campaign: Campaign, library: Mpi, note: Note) -> SelectionTable:
    """The table with only the rules that change no bit of a result; a line through `note` for each rule."""
    if campaign.header.study.in_place:
        raise UserError("no order is read from calls in place, which the campaign measured", "leave out --same-order")
    changes = list(rule_changes(table, campaign, library, note))
    for each in changes:
        note(f"{each.text}{'' if each.keeps_order else ': left out'}")
    return replace(table, rules=tuple(each.rule for each in changes if each.keeps_order))


def rule_changes(table: SelectionTable, campaign: Campaign, library: Mpi, note: Note) -> Iterator[RuleChange]:
    """What each rule of a table changes where `campaign` measured it, by the library's calls there."""
    found: dict[str, Mapping[tuple[Algorithm | None, Point], Reading]] = {}
    for rule in table.rules:
        name = rule.collective
        if not OPERATIONS[name].reduces:
            yield RuleChange(rule, 0, 0, ())
            continue
        if name not in found:
            found[name] = _read([each for each in table.rules if each.collective == name], campaign, library, note)
        points = _points(rule, campaign)
        pairs = [(found[name].get((None, each)), found[name].get((rule.algorithm, each))) for each in points]
        known = [(one, other) for one, other in pairs if one and other and one.is_readable and other.is_readable]
        changed = {one.cell.message_bytes for one, other in known if not one.same_bits(other)}
        yield RuleChange(rule, len(points), len(points) - len(known), tuple(sorted(changed)))


def _points(rule: Rule, campaign: Campaign) -> list[Point]:
    """Where a rule was measured, at each root."""
    sizes = {each.message_bytes for each in rule.evidence}
    measured = campaign.results.filter(collective=rule.collective).select("ranks", "placement", "message_bytes")
    return [
        (ranks, placement, size, root)
        for ranks, placement, size in measured.unique().rows()
        if ranks in rule.ranks and size in sizes
        for root in range(ranks if is_rooted(rule.collective) else 1)
    ]


def _read(
    rules: Sequence[Rule], campaign: Campaign, library: Mpi, note: Note
) -> Mapping[tuple[Algorithm | None, Point], Reading]:
    """The readings of the default (None) and of the algorithms of `rules`, which are of one collective."""
    points = [point for rule in rules for point in _points(rule, campaign)]
    ranks, placements, sizes, _ = map(set, zip(*points, strict=True)) if points else ((), (), (), ())
    if not (whole := [size for size in sorted(sizes) if size and size % ELEMENT_BYTES == 0]):
        return {}
    options = {
        "algorithms": ",".join(dict.fromkeys(["default", *(str(rule.algorithm) for rule in rules)])),
        "ranks": ",".join(map(str, sorted(ranks))),
        "sizes": ",".join(map(str, whole)),
        "placement": sorted(placements),
    }
    place = campaign.header.machine
    session = Session.prepare(
        order_study([rules[0].collective], options), str(library.mpirun), True, place.cluster, place.hosts
    )
    for skipped in session.plan.skipped:
        note(skipped.note)
    readings = read_orders(session, note, again=lambda cell: is_rooted(cell.collective))
    return {
        (
            None if cell.algorithm.is_default else cell.algorithm,
            (cell.ranks, cell.placement, cell.message_bytes, each.root if is_rooted(cell.collective) else 0),
        ): each
        for each in readings
        for cell in [each.cell]
    }


def name_uncounted(starter: Starter, timeout: float, group: Group, cells: Sequence[PlannedCell]) -> None:
    """Name the algorithms of reductions by their order, for a library that counts no messages, in notes.

    timeout  as of `read_launch`
    """
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
    for each in read_launch(starter, timeout, part):
        what = f"{each.cell.collective} {each.cell.algorithm.label}, {each.point}"
        starter.note(f"{what}: adds as {names_in_words(each, names)}")
