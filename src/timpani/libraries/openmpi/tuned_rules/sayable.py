"""What of a selection table a rules file can say, and what it leaves out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.openmpi.tuned_rules.collectives import TUNED, TWO_RANKS
from timpani.libraries.openmpi.tuned_rules.distributions import ANYWHERE, DISTINGUISHED, Distribution
from timpani.libraries.openmpi.tuned_rules.parameters import fields, without_effect
from timpani.libraries.openmpi.tuned_rules.parse import reads_headers
from timpani.libraries.tuning_file import MAX_RANK_COUNTS, LeftOut, rank_counts
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Rule, SelectionTable, Span, overlap, show_span, split_span
from timpani.study.words import counted


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
