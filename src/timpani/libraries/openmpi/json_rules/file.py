"""Rules in JSON as one of the library's tuning files, and the classic file as version 6 reads it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.openmpi.json_rules.choice import JsonChoice, NamedAlgorithms
from timpani.libraries.openmpi.json_rules.entries import JsonRules
from timpani.libraries.openmpi.json_rules.lint import lint
from timpani.libraries.openmpi.json_rules.write import merged, rules_text
from timpani.libraries.openmpi.tuned_rules.collectives import TUNED
from timpani.libraries.openmpi.tuned_rules.file import TunedRules
from timpani.libraries.openmpi.tuned_rules.parse import CommunicatorRule
from timpani.libraries.openmpi.tuned_rules.read import RulesChoice
from timpani.libraries.openmpi.tuned_rules.sayable import Sayable
from timpani.libraries.tuning_file import CheckedFile, Fault, TuningFile, Written, refuse_errors
from timpani.native.mpi import Mpi
from timpani.study.selection import SelectionTable

_BEGINS = re.compile(r"\ufeff?\s*\{")
_KEYS = re.compile(r'"(?:alg|rule_file_version|comm_size_(?:min|max)|msg_size_(?:min|max))"\s*:')


class JsonRulesFile(TuningFile):
    """Open MPI 6's format."""

    name = "openmpi-tuned.json"
    title = "Open MPI 6's rules for coll/tuned"
    since = (6,)

    def recognizes(self, text: str) -> bool:
        """An object with a key of the format."""
        return bool(_BEGINS.match(text) and _KEYS.search(text))

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """Parameters that are the library's defaults are not in `said`, nor in what is read back."""
        sayable = Sayable.in_version(mpi.numbers, table, catalogue)
        said = replace(table, rules=merged(sayable.rules_in_file()))
        return Written(rules_text(said, catalogue), said, tuple(sayable.left_out))

    def read(self, text: str, catalogue: Catalogue) -> JsonChoice:
        """UserError for a file that the library ignores, or that ends programs."""
        rules = JsonRules(text)
        refuse_errors(filter(None, (rules.ignored, *rules.faults)))
        # Of two collectives with one name the last counts.
        entries = {each.name: each.entries for each in rules.collectives if each.name in TUNED}
        named = {name: NamedAlgorithms.of_collective(catalogue, name) for name in entries}
        return JsonChoice(catalogue.provider, entries, named)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """See `lint.py`."""
        return lint(text, catalogue, mpi)

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """The parameters of the classic file: the library detects the format."""
        return TunedRules().switch_on(path, text, mpi)


class ClassicRulesInSix(CheckedFile):
    """The classic file as 6.0 reads it: with several communicator sizes each one's rules hold below its size.

    The reader gives an entry the communicators from the size before it up to its own size minus 1, and the last entry
    all larger ones (`coll_tuned_dynamic_file.c`, main branch of August 2026).
    """

    title = "Open MPI's classic rules for coll/tuned"
    since = (6,)

    def recognizes(self, text: str) -> bool:
        """As for versions before."""
        return TunedRules().recognizes(text)

    def read(self, text: str, catalogue: Catalogue) -> RulesChoice:
        """What 6.0 does by `text`."""
        said = TunedRules().read(text, catalogue)
        return replace(said, rules={name: _as_in_six(rules) for name, rules in said.rules.items()})

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """What is wrong for every version, and what 6.0 alone reads in another way."""
        try:
            rules = TunedRules().read(text, catalogue).rules
        except UserError:
            rules = {}
        for name, entries in rules.items():
            if len(entries) > 1:
                what = f"{name} has rules for several communicator sizes"
                consequence = f"version 6 uses each one's rules below its size: those of {entries[1].ranks} ranks hold "
                consequence += f"from {max(entries[0].ranks, 0)} to {entries[1].ranks - 1}"
                yield Fault("error", entries[1].line, what, consequence, "write the rules in JSON: `timpani tune`")
        yield from TunedRules().lint(text, catalogue, mpi)


def _as_in_six(entries: tuple[CommunicatorRule, ...]) -> tuple[CommunicatorRule, ...]:
    starts = [0, *(each.ranks for each in entries[:-1])]
    shifted = [replace(each, ranks=start) for each, start in zip(entries, starts, strict=True)]
    return tuple(shifted[1:] if len(entries) > 1 and entries[0].ranks == 0 else shifted)
