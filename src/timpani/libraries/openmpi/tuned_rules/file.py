"""The rules file of `coll/tuned` as one of the library's tuning files."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.openmpi.han_rules.parse import is_hans
from timpani.libraries.openmpi.installed import ahead_of_tuned
from timpani.libraries.openmpi.tuned_rules.collectives import NAMES
from timpani.libraries.openmpi.tuned_rules.lint import lint
from timpani.libraries.openmpi.tuned_rules.parse import RulesFile, reads_headers
from timpani.libraries.openmpi.tuned_rules.read import RulesChoice, known_algorithms, unknown_algorithms
from timpani.libraries.openmpi.tuned_rules.sayable import Sayable
from timpani.libraries.openmpi.tuned_rules.write import rules_lines
from timpani.libraries.tuning_file import Fault, TuningFile, Written, refuse_errors
from timpani.native.mpi import Mpi, version_numbers
from timpani.study.selection import SelectionTable

_BEGINS = re.compile(r"\ufeff?(?:\s++|#[^\n]*+)*+(?:rule-file-version-|[+-]?\d)")


class TunedRules(TuningFile):
    """Open MPI 4.1's and 5.0's format. Version 6 reads it with shifted rules: see `json_rules/file.py`."""

    name = "openmpi-tuned.conf"
    title = "Open MPI's rules for coll/tuned"
    since = (4, 1)
    until = (6,)

    def recognizes(self, text: str) -> bool:
        """Numbers from the first on, or the header, and not HAN's levels or components."""
        return _BEGINS.match(text) is not None and not is_hans(text)

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """Parameters that are the library's defaults are not in `said`, nor in what is read back."""
        sayable = Sayable.in_version(mpi.numbers, table, catalogue)
        said = replace(table, rules=tuple(each.rule for each in sayable.rules_in_file()))
        requests = any("max_requests" in dict(rule.algorithm.parameters) for rule in said.rules)
        text = "".join(f"{line}\n" for line in rules_lines(said, catalogue, 2 if requests else 1))
        return Written(text, said, tuple(sayable.left_out))

    def read(self, text: str, catalogue: Catalogue) -> RulesChoice:
        """UserError for a file that the library ignores, or by which a call fails."""
        said = RulesFile(text, reads_headers(version_numbers(catalogue.version)))
        refuse_errors(said.gave_up)
        algorithms = known_algorithms(catalogue)
        rules = {}
        for collective in said.collectives:  # of two with one id the last counts
            name = NAMES.get(collective.id)
            if name in algorithms:
                rules[name] = collective.communicators
                refuse_errors(unknown_algorithms(collective, catalogue))
        return RulesChoice(catalogue.provider, rules, algorithms)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """See `lint.py`."""
        return lint(text, catalogue, mpi)

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """On several nodes 5.0's HAN goes before coll/tuned, unless its own file delegates calls.

        Components that go before it on any number of nodes are kept out.
        """
        others = ahead_of_tuned(mpi)
        without = (("coll", f"^{','.join(others)}"),) if others else ()
        return (("coll_tuned_use_dynamic_rules", "1"), ("coll_tuned_dynamic_rules_filename", str(path)), *without)
