"""The rules file of `coll/tuned` as one of the library's tuning files."""

import re
from collections.abc import Iterator
from pathlib import Path

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.openmpi.han_rules.parse import is_hans
from timpani.libraries.openmpi.installed import ahead_of_tuned
from timpani.libraries.openmpi.tuned_rules.lint import lint
from timpani.libraries.openmpi.tuned_rules.read import RulesChoice, read
from timpani.libraries.openmpi.tuned_rules.write import write
from timpani.libraries.tuning_file import Fault, TuningFile, Written
from timpani.native.mpi import Mpi
from timpani.tuning.decide.selection_table import SelectionTable

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
        """See `write.py`."""
        return write(table, catalogue, mpi)

    def read(self, text: str, catalogue: Catalogue) -> RulesChoice:
        """See `read.py`."""
        return read(text, catalogue)

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
