"""What rules of a tuning change in the results of reductions: no bit, or the order of addition."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from timpani.campaign.folder.load import Campaign
from timpani.campaign.plan.plan import Group, PlannedCell
from timpani.campaign.run.session import Session
from timpani.campaign.run.start import Starter
from timpani.native.mpi import Mpi
from timpani.order.commands import order_study, read_orders
from timpani.order.document import names_in_words
from timpani.order.naming import Schedules
from timpani.order.reading import DATATYPE, ELEMENT_BYTES, OPERATOR, Reading, read_launch
from timpani.study.operations import OPERATIONS
from timpani.study.selection import Rule, SelectionTable, show_span
from timpani.study.sizes import show_size

Note = Callable[[str], None]


@dataclass(frozen=True)
class RuleChange:
    """What a rule changes at the measured points that it decides.

    compared  the sizes at which its order and the default's were read
    changed   those at which a bit of a sum may differ
    """

    rule: Rule
    compared: tuple[int, ...]
    changed: tuple[int, ...]

    @property
    def keeps_order(self) -> bool:
        """Whether it changes no bit: it reduces nothing, or the orders are equal at all its sizes."""
        return not OPERATIONS[self.rule.collective].reduces or (bool(self.compared) and not self.changed)

    @property
    def text(self) -> str:
        """In words."""
        rule = self.rule
        where = f"{rule.collective} {rule.algorithm.label}, {show_span(rule.ranks)} ranks"
        if self.keeps_order:
            return f"{where}: changes no bit of a result"
        if not self.compared:
            return f"{where}: its order of addition could not be read"
        sizes = f"from {show_size(self.changed[0])} on" if len(self.changed) > 1 else f"at {show_size(self.changed[0])}"
        return f"{where}: changes the order of addition {sizes}"


def keep_order(table: SelectionTable, campaign: Campaign, library: Mpi, note: Note) -> SelectionTable:
    """The table with only the rules that change no bit of a result; a line through `note` for each rule."""
    changes = list(rule_changes(table, campaign, library, note))
    for each in changes:
        note(f"{each.text}{'' if each.keeps_order else ': left out'}")
    return replace(table, rules=tuple(each.rule for each in changes if each.keeps_order))


def rule_changes(table: SelectionTable, campaign: Campaign, library: Mpi, note: Note) -> Iterator[RuleChange]:
    """What each rule of a table changes where `campaign` measured it, by the library's calls there."""
    found: dict[str, Sequence[Reading]] = {}
    for rule in table.rules:
        name = rule.collective
        if name not in found:
            rules = [each for each in table.rules if each.collective == name]
            found[name] = _read(rules, campaign, library, note) if OPERATIONS[name].reduces else ()
        here = [each for each in found[name] if each.cell.ranks in rule.ranks and each.cell.message_bytes in rule.sizes]
        default = {
            replace(each.cell, algorithm=rule.algorithm): each for each in here if each.cell.algorithm.is_default
        }
        pairs = [(default[each.cell], each) for each in here if each.cell in default]
        complete = len(pairs) == len(default)
        compared = {each.cell.message_bytes for _, each in pairs} if complete else set()
        changed = {each.cell.message_bytes for one, each in pairs if not one.same_bits(each)} & compared
        yield RuleChange(rule, tuple(sorted(compared)), tuple(sorted(changed)))


def _read(rules: Sequence[Rule], campaign: Campaign, library: Mpi, note: Note) -> list[Reading]:
    """The orders of the default and of the algorithms of `rules`, which are of one collective, where they decide."""
    sizes = {each.message_bytes for rule in rules for each in rule.evidence}
    ranks = {count for count in campaign.results["ranks"].unique() if any(count in rule.ranks for rule in rules)}
    if not (whole := [size for size in sorted(sizes) if size and size % ELEMENT_BYTES == 0]) or not ranks:
        return []
    options = {
        "algorithms": ",".join(dict.fromkeys(["default", *(str(rule.algorithm) for rule in rules)])),
        "ranks": ",".join(map(str, sorted(ranks))),
        "sizes": ",".join(map(str, whole)),
        "placement": campaign.results["placement"].unique().to_list(),
    }
    place = campaign.header.machine
    session = Session.prepare(
        order_study([rules[0].collective], options), str(library.mpirun), True, place.cluster, place.hosts
    )
    return read_orders(session, note, launches=1)


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
    names = Schedules.of_programs(group.mpi).names
    for each in read_launch(starter, timeout, wanted=reductions.__contains__):
        what = f"{each.cell.collective} {each.cell.algorithm.label}, {each.point}"
        starter.note(f"{what}: adds as {names_in_words(each, names)}")
