"""UCC's configuration as a file that Timpani writes next to Open MPI's rules, reads and checks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.openmpi.installed import components_of
from timpani.libraries.openmpi.ucc_rules.configuration import UccSetting, read_configuration
from timpani.libraries.openmpi.ucc_rules.lint_ucc import lint_configuration
from timpani.libraries.openmpi.ucc_rules.tune_value import parse_value
from timpani.libraries.openmpi.ucc_rules.ucp_algorithms import COLLECTIVES, NAMES
from timpani.libraries.openmpi.ucc_rules.write_ucc import TUNE, write_configuration
from timpani.libraries.tuning_file import Fault, TuningFile, Written, refuse_errors
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import Call, SelectionTable

_BEGINS = re.compile(
    r"^[ \t]*(?:(?:export[ \t]+)?UCC_\w+[ \t]*=|\[[^\]\n]*\b(?:team_size|ppn|nnodes|vendor)=)", re.MULTILINE
)


@dataclass(frozen=True)
class UccChoice:
    """The tune settings of a file; of sections that hold at once, and of tokens that fit, the first is taken."""

    settings: tuple[UccSetting, ...]
    provider: str

    def decide(self, call: Call) -> Algorithm | None:
        """UCC's algorithm, as `ucc_` and its name; None where TL/UCP decides."""
        collective = COLLECTIVES.get(call.collective)
        if collective is None:
            return None
        in_order = sorted(self.settings, key=lambda each: not each.section.line)  # sections go before the rest
        for setting in (each for each in in_order if each.section.holds(call)):
            for token in parse_value(setting.value):
                if token.algorithm and token.fits(collective.name, call.ranks, collective.compared(call)):
                    name = token.algorithm
                    names = NAMES[collective.name]
                    return Algorithm(self.provider, f"ucc_{names[int(name)] if name.isdecimal() else name}")
            return None
        return None


class UccFile(TuningFile):
    """Written where an Open MPI of any version has the component `coll/ucc`, and never switched on: it is not tried."""

    name = "ucc.conf"
    title = "UCC's configuration, not tried with UCC"

    def recognizes(self, text: str) -> bool:
        """A variable of UCC's, or a section with its keys."""
        return _BEGINS.search(text) is not None

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """See `write_ucc.py`; nothing without `coll/ucc`."""
        if "ucc" not in components_of(mpi).get("coll", ()):
            return Written("", SelectionTable(table.library, table.version, ()), ())
        return write_configuration(table, catalogue)

    def read(self, text: str, catalogue: Catalogue) -> UccChoice:
        """What TL/UCP chooses; UserError where UCC refuses the file or a value."""
        refuse_errors(lint_configuration(text))
        settings = (each for each in read_configuration(text) if isinstance(each, UccSetting) and each.name == TUNE)
        return UccChoice(tuple(settings), catalogue.provider)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """See `lint_ucc.py`."""
        yield from lint_configuration(text)

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """Nothing: users who have tried it name the file in UCC_CONFIG_FILE."""
        return ()
