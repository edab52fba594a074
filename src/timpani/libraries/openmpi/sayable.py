"""What of a selection table files for coll/tuned can say, what they leave out, and the entries that say it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.openmpi.tuned import MAX_LONG, TUNED, TWO_RANKS, fields, reads_headers, without_effect
from timpani.libraries.tuning_file import MAX_RANK_COUNTS, LeftOut, rank_counts
from timpani.study.cell import Algorithm
from timpani.study.selection import (
    ALL,
    Call,
    Rule,
    SelectionTable,
    Span,
    common_part,
    overlap,
    show_span,
    split_span,
)
from timpani.study.sizes import LARGEST
from timpani.study.words import counted


@dataclass(frozen=True)
class Distribution:
    """A class of communicators.

    word      what a file in JSON calls it
    nodes     on how many nodes its ranks are
    per_node  the largest number of its ranks on one node
    words     the same for people, after a number of ranks
    """

    word: str
    nodes: Span
    per_node: Span
    words: str = ""

    def part_of(self, rule: Rule) -> Rule | None:
        """`rule` for communicators of this class only; None if it decides none of them.

        On one node, the ranks of a node are all ranks; with one rank on each node, the nodes are as many as the ranks.
        In both classes a rule can therefore ask for ranks in place of ranks per node or of nodes.
        """
        nodes, per_node = common_part(rule.nodes, self.nodes), common_part(rule.per_node, self.per_node)
        ranks: Span | None = rule.ranks
        if self == SINGLE_NODE:
            ranks = common_part(rule.ranks, rule.per_node)
        elif self == ONE_PER_NODE:
            ranks = common_part(rule.ranks, rule.nodes)
        if nodes is None or per_node is None or ranks is None:
            return None
        return replace(rule, ranks=ranks, nodes=self.nodes, per_node=self.per_node)

    def widens(self, rule: Rule) -> bool:
        """Whether `rule` decides only some communicators of this class with its rank counts."""
        if self in (SINGLE_NODE, ONE_PER_NODE):
            return False
        return (common_part(rule.nodes, self.nodes), common_part(rule.per_node, self.per_node)) != (
            self.nodes,
            self.per_node,
        )


ANYWHERE = Distribution("any", ALL, ALL)
SINGLE_NODE = Distribution("single-node", Span(1, 1), ALL, " on one node")
ONE_PER_NODE = Distribution("one-per-node", Span(2), Span(1, 1), " with one rank on each node")
SEVERAL = Distribution("any", Span(2), Span(2), " on several nodes with several ranks on a node")
"""What is left of `any` after the other two, if their entries come first: the first entry that fits holds."""

DISTINGUISHED = (SINGLE_NODE, ONE_PER_NODE, SEVERAL)
"""The classes that a file in JSON distinguishes, in the order in which it must name them."""


class UnsayableError(Exception):
    """Why a rule can't be said."""


@dataclass(frozen=True)
class Said:
    """A rule as a file has it for communicators of one distribution, and those of the table that it stands for."""

    rule: Rule
    of: tuple[Rule, ...]
    distribution: Distribution = ANYWHERE


@dataclass
class Sayable:
    """The rules of a table that can be said; `left_out` is filled on the way.

    requests       whether this version reads MAXREQ from a file
    distributions  the classes of communicators that the format distinguishes
    """

    table: SelectionTable
    catalogue: Catalogue
    requests: bool
    distributions: tuple[Distribution, ...] = (ANYWHERE,)
    left_out: list[LeftOut] = field(default_factory=list)

    @classmethod
    def in_version(cls, numbers: tuple[int, ...], table: SelectionTable, catalogue: Catalogue) -> "Sayable":
        """What the rules file of this version can say: in JSON since 6.0, before in the classic format."""
        distributions = DISTINGUISHED if numbers >= (6,) else (ANYWHERE,)
        return cls(table, catalogue, reads_headers(numbers), distributions)

    def rules_in_file(self) -> tuple[Said, ...]:
        """The rules as the file will have them; fills `left_out`."""
        kept = [(rule, self._with_algorithm(rule)) for rule in self.table.rules]
        known = [(rule, sayable) for rule, sayable in kept if sayable is not None]
        said = [
            each
            for distribution in self.distributions
            for name, rules in self._by_collective(known, distribution)
            for each in self._of_collective(name, rules, distribution)
        ]
        for each in said:
            for rule in filter(each.distribution.widens, each.of):
                reach = f"any {_counted(rule.ranks, 'rank')}{each.distribution.words}"
                self._leave_out(rule, f"measured on {_nodes(rule)}, but the file applies it to {reach}")
        return tuple(said)

    def _leave_out(self, rule: Rule, why: str) -> None:
        if LeftOut(rule, why) not in self.left_out:
            self.left_out.append(LeftOut(rule, why))

    def _with_algorithm(self, rule: Rule) -> Rule | None:
        """The rule with its algorithm as a file has it; None where it is left out."""
        try:
            return replace(rule, algorithm=self._algorithm(rule))
        except UnsayableError as why:
            self._leave_out(rule, str(why))
            return None

    def _algorithm(self, rule: Rule) -> Algorithm:
        if rule.collective not in TUNED or rule.collective not in self.catalogue.algorithms:
            raise UnsayableError(f"coll/tuned has no rules for {rule.collective}")
        if rule.algorithm.provider != self.catalogue.provider:
            raise UnsayableError(f"{rule.algorithm} is not an algorithm of coll/tuned")
        try:
            info = self.catalogue.info(rule.collective, rule.algorithm)
        except UserError as error:
            raise UnsayableError(error.what) from None
        if info is None:
            return rule.algorithm
        if info.name == TWO_RANKS and (rule.ranks.last or 3) > 2:
            raise UnsayableError(f"{info.name} fails on more than 2 ranks")
        defaults = {each.name: each.default for each in info.parameters}
        sayable = {each.name: where for where, each in fields(info).items()}
        asked = {}
        for name, value in rule.algorithm.parameters:
            if name not in defaults:
                raise UnsayableError(f"{info.name} has no {name}")
            if value == defaults[name]:
                continue
            if name in sayable and (sayable[name] != "requests" or self.requests):
                asked[name] = value
            elif without_effect(info, name):
                self._leave_out(rule, f"{name} is written for none: {info.name} does not read it")
            elif name in sayable:
                raise UnsayableError(
                    f"version {self.catalogue.version} reads no {name} from a file; 4.1.8 and 5.0.7 do"
                )
            else:
                raise UnsayableError(f"a rules file can't say {name}")
        return Algorithm(rule.algorithm.provider, info.name, tuple(sorted(asked.items())))

    def _by_collective(
        self, rules: list[tuple[Rule, Rule]], distribution: Distribution
    ) -> Iterator[tuple[str, list[tuple[Rule, Rule]]]]:
        """The rules for communicators of `distribution`; rules that differ by other numbers of nodes are left out.

        Each pair is a rule of the table and the same as the file says it.
        """
        parts = [(rule, sayable, distribution.part_of(sayable)) for rule, sayable in rules]
        here = [(rule, sayable, part) for rule, sayable, part in parts if part is not None]
        found: dict[str, list[tuple[Rule, Rule]]] = {name: [] for name in TUNED}
        for rule, sayable, part in here:
            against = next(
                (
                    other
                    for _, other, of_other in here
                    if (distribution.widens(sayable) or distribution.widens(other))
                    and _differ_by_nodes(sayable, other)
                    and overlap(part.ranks, of_other.ranks)
                ),
                None,
            )
            if against is None:
                found[rule.collective].append((rule, part))
            else:
                other = f"{_nodes(against)}, where {against.algorithm.plain} is chosen"
                self._leave_out(rule, f"a rules file can't distinguish {_nodes(rule)} from {other}")
        yield from found.items()

    def _of_collective(self, name: str, rules: list[tuple[Rule, Rule]], distribution: Distribution) -> Iterator[Said]:
        unsaid = TUNED[name].unsaid
        for each in self._of_any_size(rules, unsaid) if unsaid else self._written_out(rules):
            placed = replace(each.rule, nodes=distribution.nodes, per_node=distribution.per_node)
            yield Said(placed, each.of, distribution)

    def _written_out(self, rules: Iterable[tuple[Rule, Rule]]) -> Iterator[Said]:
        """Without those that would take an entry for each of too many rank counts."""
        for rule, sayable in rules:
            ranks = sayable.ranks
            scales = TUNED[rule.collective].unit == "blocks" and sayable.sizes != ALL
            if scales and rank_counts(ranks) is None:
                self._leave_out(
                    rule,
                    f"sizes of {rule.collective} are compared times ranks, which takes an entry for each rank count; "
                    f"{show_span(ranks)} ranks are more than {MAX_RANK_COUNTS} counts",
                )
            else:
                yield Said(sayable, (rule,))

    def _of_any_size(self, rules: list[tuple[Rule, Rule]], unsaid: str) -> Iterator[Said]:
        """For each span of ranks a rule for all sizes, where one algorithm is chosen at all that were measured."""
        for ranks in split_span([sayable.ranks for _, sayable in rules], ALL):
            here = [(rule, sayable) for rule, sayable in rules if ranks.first in sayable.ranks]
            if not here:
                continue
            measured = self.table.measured.get(here[0][0].collective, ALL)
            chosen = {
                next((sayable.algorithm for _, sayable in here if size.first in sayable.sizes), None)
                for size in split_span([sayable.sizes for _, sayable in here], measured)
            }
            algorithm = chosen.pop()
            for rule, sayable in here:
                if chosen or algorithm is None:
                    self._leave_out(rule, f"{unsaid}, and not every measured size has this algorithm")
                elif sayable.sizes != ALL and rule.collective != "barrier":
                    self._leave_out(rule, f"{unsaid}: it holds at sizes that were not measured, too")
            if algorithm is not None and not chosen:
                of = tuple(rule for rule, _ in here)
                evidence = tuple(each for rule in of for each in rule.evidence)
                regret = max(rule.regret for rule in of)
                yield Said(Rule(of[0].collective, algorithm, ranks=ranks, evidence=evidence, regret=regret), of)


def _differ_by_nodes(rule: Rule, other: Rule) -> bool:
    """Whether both can decide calls that differ in where the ranks are alone, and decide otherwise."""
    return (
        rule.collective == other.collective
        and rule.algorithm != other.algorithm
        and (rule.nodes, rule.per_node) != (other.nodes, other.per_node)
        and overlap(rule.ranks, other.ranks)
        and (bool(TUNED[rule.collective].unsaid) or overlap(rule.sizes, other.sizes))
    )


def _nodes(rule: Rule) -> str:
    return f"{_counted(rule.nodes, 'node')} of {_counted(rule.per_node, 'rank')}"


def _counted(span: Span, word: str) -> str:
    return counted(span.first, word) if span.first == span.last else f"{show_span(span)} {word}s"


Sizes = Mapping[int, Algorithm | None]
"""From which size on which algorithm; None: the library chooses."""


def by_ranks(collective: str, rules: tuple[Rule, ...]) -> Iterator[tuple[int, Sizes]]:
    """From which rank count on which choices; the first from 0 on, so that there is no smaller communicator."""
    before: Sizes | None = None
    for ranks, sizes in _all_ranks(collective, rules):
        if ranks <= LARGEST and sizes != before:
            yield ranks, (before := sizes)


def _all_ranks(collective: str, rules: tuple[Rule, ...]) -> Iterator[tuple[int, Sizes]]:
    for span in split_span([rule.ranks for rule in rules], ALL):
        here = [rule for rule in rules if span.first in rule.ranks]
        yield from ((ranks, _by_size(collective, ranks, here)) for ranks in _counts(collective, span, here))


def _counts(collective: str, span: Span, rules: list[Rule]) -> "range | tuple[int]":
    """The rank counts of a span that need an entry: each, where thresholds grow with them."""
    if TUNED[collective].unit != "blocks" or all(rule.sizes == ALL for rule in rules):
        return (span.first,)
    assert span.last is not None, "such a rule is not sayable"
    return range(span.first, span.last + 1)


def _by_size(collective: str, ranks: int, rules: list[Rule]) -> Sizes:
    """The choices by the size that is compared."""
    found: dict[int, Algorithm | None] = {}
    before: Algorithm | None = None
    for size in split_span([rule.sizes for rule in rules], ALL):
        call = Call(collective, ranks, 1, 1, size.first)
        algorithm = next((rule.algorithm for rule in rules if call.message_bytes in rule.sizes), None)
        algorithm = None if algorithm is None or algorithm.is_default else algorithm
        compared = TUNED[collective].compared(call) if size.first else 0
        if compared <= MAX_LONG and (not found or algorithm != before):
            found[compared] = before = algorithm
    return found
