"""What the library chooses by a rules file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.openmpi.tuned_rules.collectives import NAMES, TUNED
from timpani.libraries.openmpi.tuned_rules.parameters import Field, written_algorithm
from timpani.libraries.openmpi.tuned_rules.parse import (
    CollectiveRules,
    CommunicatorRule,
    MessageRule,
)
from timpani.libraries.tuning_file import Fault
from timpani.study.cell import Algorithm
from timpani.study.selection import Call

_Either = TypeVar("_Either", CommunicatorRule, MessageRule)


@dataclass(frozen=True)
class RulesChoice:
    """The rules of each collective, and its algorithms by their ids."""

    provider: str
    rules: Mapping[str, tuple[CommunicatorRule, ...]]
    algorithms: Mapping[str, Mapping[int, AlgorithmInfo]]

    def decide(self, call: Call) -> Algorithm | None:
        """As the contract has it: the canonical name, and the parameters that are not the library's defaults."""
        if not (communicators := self.rules.get(call.collective)):
            return None
        messages = _reached(communicators, lambda rule: rule.ranks <= call.ranks).messages
        size = TUNED[call.collective].compared(call)
        if not messages or not (rule := _reached(messages, lambda rule: rule.size <= size)).algorithm:
            return None
        info = self.algorithms[call.collective][rule.algorithm]
        values: dict[Field, int | None] = {"topo": rule.topo, "segment": rule.segment, "requests": rule.requests}
        return written_algorithm(self.provider, info, values)


def known_algorithms(catalogue: Catalogue) -> dict[str, dict[int, AlgorithmInfo]]:
    """Of each collective that rules can be for, the algorithms by the ids that a file uses."""
    return {
        name: {int(info.value): info for info in infos} for name, infos in catalogue.algorithms.items() if name in TUNED
    }


def unknown_algorithms(collective: CollectiveRules, catalogue: Catalogue) -> Iterator[Fault]:
    """Rules for a collective of coll/tuned that name an algorithm which the library lacks."""
    name = NAMES[collective.id]
    known = known_algorithms(catalogue)[name]
    offered = ", ".join(f"{number} {info.name}" for number, info in sorted(known.items()))
    for message in (each for rule in collective.communicators for each in rule.messages):
        if message.algorithm and message.algorithm not in known:
            what = f"{catalogue.title} has no {name} algorithm {message.algorithm}"
            yield Fault("error", message.line, what, "the call that meets the rule fails", f"choose of {offered}")


def _reached(rules: Sequence[_Either], reached: Callable[[_Either], bool]) -> _Either:
    """The last before the first that is not reached; the first where that is not."""
    best = rules[0]
    for rule in rules:
        if not reached(rule):
            break
        best = rule
    return best
