"""The file by which coll/han delegates to coll/tuned what a table has rules for on several nodes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from timpani.errors import printable
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.openmpi.han_rules.parse import WHOLE, Communicators, HanFile, is_hans
from timpani.libraries.openmpi.tuned_rules.collectives import han_collectives
from timpani.libraries.openmpi.tuned_rules.sayable import Sayable
from timpani.libraries.tuning_file import Fault, TuningFile, Written, refuse_errors
from timpani.native.mpi import Mpi, version_numbers
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span, overlap, split_span

_SEVERAL = Span(2, None)
"""Nodes on which coll/han does anything."""


@dataclass(frozen=True)
class HanChoice:
    """Which component does a call, by the collective: `tuned`, say, or an algorithm of HAN's; None is HAN's default."""

    provider: str
    whole: Mapping[str, tuple[Communicators, ...]]

    def decide(self, call: Call) -> Algorithm | None:
        """The component; what coll/tuned chooses then its own file says."""
        if call.nodes not in _SEVERAL:
            return None
        fitting = [each for each in self.whole.get(call.collective, ()) if each.ranks <= call.ranks]
        messages = [each for each in fitting[-1].messages if each.size <= call.message_bytes] if fitting else []
        if not messages or (messages[-1].component == "han" and not messages[-1].algorithm):
            return None
        last = messages[-1]
        return Algorithm(self.provider, f"{last.component}_{last.algorithm}" if last.algorithm else last.component)


class HanRules(TuningFile):
    """Open MPI 5.0's and 6's: the same format, in 6 for more collectives; 4.1 does not use HAN by default."""

    name = "openmpi-han.conf"
    title = "Open MPI's rules for coll/han"
    since = (5,)

    def recognizes(self, text: str) -> bool:
        """A level or a component after numbers and at most the name of a collective."""
        return is_hans(text)

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """Delegate what was measured on several nodes and coll/tuned's file says: that one names what is left out."""
        collectives = han_collectives(mpi.numbers)
        several = [
            replace(said.rule, algorithm=Algorithm(catalogue.provider, "tuned"), nodes=_SEVERAL, per_node=ALL)
            for said in Sayable.in_version(mpi.numbers, table, catalogue).rules_in_file()
            if said.rule.collective in collectives
            and not said.rule.algorithm.is_default
            and overlap(said.rule.nodes, _SEVERAL)
            and any(overlap(rule.nodes, _SEVERAL) for rule in said.of)
        ]
        said = replace(table, rules=tuple(dict.fromkeys(several)))
        return Written("".join(f"{line}\n" for line in _lines(said, collectives, catalogue.title)), said, ())

    def read(self, text: str, catalogue: Catalogue) -> HanChoice:
        """The last of the rules for a collective at the level of the whole communicator."""
        said = HanFile(text)
        refuse_errors(said.faults)
        whole = {each.collective: each.communicators for each in said.levels if each.level == WHOLE}
        collectives = han_collectives(version_numbers(catalogue.version))
        return HanChoice(catalogue.provider, {name: rules for name, rules in whole.items() if name in collectives})

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """Structure, order, and collectives that are not HAN's."""
        said = HanFile(text)
        yield from said.faults
        for level in said.levels:
            if level.collective not in han_collectives(mpi.numbers):
                what = f"coll/han does no {level.collective}"
                yield Fault("warning", level.line, what, "these rules do nothing", "remove them")
            yield from _of_order(level.communicators)

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """Without coll/tuned's own file, what is delegated gets that one's default."""
        return (("coll_han_use_dynamic_file_rules", "1"), ("coll_han_dynamic_rules_filename", str(path)))


def _of_order(communicators: tuple[Communicators, ...]) -> Iterator[Fault]:
    consequence = "the last one that is small enough is taken, so some rules are never reached"
    for rule, following in pairwise(communicators):
        if following.ranks <= rule.ranks:
            what = f"{following.ranks} ranks after {rule.ranks}"
            yield Fault("warning", following.line, what, consequence, "sort them by ranks, each once")
    for rule in communicators:
        for message, next_one in pairwise(rule.messages):
            if next_one.size <= message.size:
                what = f"size {next_one.size} after {message.size}"
                yield Fault("warning", next_one.line, what, consequence, "sort them by size, each once")


def _lines(said: SelectionTable, known: Iterable[str], library: str) -> Iterator[str]:
    collectives = [name for name in known if said.rules_for([name])]
    yield f"{len(collectives)}  # collectives; for {printable(f'{library}, from {said.source}')}"
    for name in collectives:
        entries: dict[int, list[tuple[int, str]]] = {}
        for ranks in split_span([rule.ranks for rule in said.rules_for([name])], ALL):
            entries[max(ranks.first, 1)] = _by_size(
                [rule for rule in said.rules_for([name]) if ranks.first in rule.ranks]
            )
        yield from (name, "1  # level", WHOLE, f"{len(entries)}  # communicator sizes")
        for first, sizes in entries.items():
            yield f"{first} {len(sizes)}  # from {first} ranks"
            yield from (f"{size} {component}" for size, component in sizes)


def _by_size(rules: list[Rule]) -> list[tuple[int, str]]:
    """From which size on which component."""
    found: list[tuple[int, str]] = []
    for size in split_span([rule.sizes for rule in rules], ALL):
        component = "tuned" if any(size.first in rule.sizes for rule in rules) else "han"
        if not found or found[-1][1] != component:
            found.append((size.first, component))
    return found
