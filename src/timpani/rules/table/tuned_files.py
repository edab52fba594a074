"""All files of a selection table: the library's own, ours, and what switches them on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.tuning_file import LeftOut, TuningFile, Written
from timpani.native.mpi import Mpi
from timpani.rules.table.switch_scripts import module_file, switch_off_script, switch_on_script
from timpani.rules.table.table_file import NAME, table_text
from timpani.study.cell import OWN
from timpani.tuning.decide.replacements import rules_text
from timpani.tuning.decide.selection_table import SIMULATED, Call, Rule, SelectionTable

OUR_RULES = "timpani.rules"
"""Rules by which the preloaded library replaces collectives."""

EXPORTS, SWITCH_OFF, MODULE = "switch-on.sh", "switch-off.sh", "modulefile"
"""Scripts for a shell, and a module file (Tcl), that make the library read its files, or no longer."""


@dataclass(frozen=True)
class LibraryFile:
    """A file of the library's: its format and what of the table it leaves out."""

    format: TuningFile
    rules: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class TunedFiles:
    """What `timpani tune` writes into a folder.

    texts     by name
    library   the library's files among them
    switches  parameters of the library that make it read these
    """

    texts: Mapping[str, str]
    library: tuple[LibraryFile, ...] = ()
    switches: Parameters = ()
    our_rules: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)


def tuned_files(table: SelectionTable, mpi: Mpi, catalogue: Catalogue, folder: Path) -> TunedFiles:
    """The files that say `table`, to be written into `folder`; formats that have nothing to say are left out."""
    library = LIBRARIES[mpi.kind]
    folder = folder.absolute()
    texts = {NAME: table_text(table, folder)}
    table = table.for_files()
    theirs = replace(table, rules=tuple(rule for rule in table.rules if rule.algorithm.provider != OWN))
    ours = [rule for rule in table.rules if rule.algorithm.provider == OWN]
    written: list[LibraryFile] = []
    switches: dict[str, str] = {}
    for each in library.tuning_files if theirs.rules else ():
        if not each.serves(mpi):
            continue
        file = _written(each, theirs, catalogue, mpi)
        written.append(LibraryFile(each, len(file.said.rules), file.left_out))
        if file.said.rules:
            texts[each.name] = file.text
            switches |= dict(each.switch_on(folder / each.name, file.text, mpi))
    if ours:
        about = [SIMULATED] if table.simulated else []
        texts[OUR_RULES] = rules_text(ours, [*about, f"from {table.source}"])
    settings = {library.variable(name): value for name, value in switches.items()}
    if settings:
        texts[EXPORTS] = switch_on_script(EXPORTS, settings, folder, mpi)
        texts[SWITCH_OFF] = switch_off_script(SWITCH_OFF, settings)
        texts[MODULE] = module_file(settings, folder, mpi, evidence=NAME)
        if library.parameter_file:
            lines = (f"{name} = {value}\n" for name, value in switches.items())
            texts[library.parameter_file] = "".join(["# Change the paths where this folder is moved.\n", *lines])
    return TunedFiles(texts, tuple(written), tuple(switches.items()), len(ours), settings)


def _written(format: TuningFile, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
    """The file; without the predicted rules where with them it would decide calls otherwise that they aren't for."""
    whole = format.write(table, catalogue, mpi)
    predicted = [rule for rule in table.rules if rule.predicted]
    if not predicted:
        return whole
    measured = replace(table, rules=tuple(rule for rule in table.rules if not rule.predicted))
    alone = format.write(measured, catalogue, mpi)
    here = [call for rule in measured.rules for call in _edges(rule)]
    below = [replace(call, ranks=call.ranks - 1) for rule in predicted for call in _edges(rule)]
    if all(whole.said.decide(call) == alone.said.decide(call) for call in (*here, *below)):
        return whole
    why = "predicted, and in this format it would change what was measured: left out"
    return replace(alone, left_out=(*alone.left_out, *(LeftOut(rule, why) for rule in predicted)))


def _edges(rule: Rule) -> list[Call]:
    """Its first call and its last."""
    nodes, per_node = max(1, rule.nodes.first), max(1, rule.per_node.first)
    sizes = (rule.sizes.first, rule.sizes.first if rule.sizes.last is None else rule.sizes.last)
    return [Call(rule.collective, rule.ranks.first, nodes, per_node, size) for size in sizes]


def tuned_names(mpi: Mpi) -> tuple[str, ...]:
    """The names that files of `tuned_files` for `mpi` may have, but for the table's."""
    library = LIBRARIES[mpi.kind]
    theirs = (each.name for each in library.tuning_files)
    return (*theirs, OUR_RULES, EXPORTS, SWITCH_OFF, MODULE, *filter(None, (library.parameter_file,)))
