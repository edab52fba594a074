"""All files of a selection table: the library's tuning files, Timpani's rules, and scripts that switch them on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from timpani.campaign.plan.prepared_variant import PreparedVariant, SettingConflictError
from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.library import Library
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.tuning_file import LeftOut, TuningFile, Written
from timpani.native.mpi import Mpi
from timpani.rules.table.switch_scripts import module_file, switch_off_script, switch_on_script
from timpani.rules.table.table_file import TABLE_FILE, table_text
from timpani.study.cell import OWN
from timpani.study.selection import SIMULATED, Call, Rule, SelectionTable
from timpani.study.variant import parse_variant
from timpani.tuning.decide.replacements import own_rules_text

PRELOAD_RULES = "timpani.rules"
"""Rules by which the preloaded library replaces collectives."""

SWITCH_ON, SWITCH_OFF, MODULE = "switch-on.sh", "switch-off.sh", "modulefile"
"""Shell scripts and a module file (Tcl) that switch the library's tuning files on and off."""


@dataclass(frozen=True)
class LibraryFile:
    """A tuning file of the library: its format, its number of rules, and the rules that it leaves out."""

    format: TuningFile
    rules: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class TunedFiles:
    """The files that `timpani tune` writes into a folder.

    texts          by file name
    library        the library's tuning files among them
    switches       parameters that make the library read its tuning files
    preload_rules  number of rules in PRELOAD_RULES
    settings       environment variables that set `switches`, and the table's setting
    """

    texts: Mapping[str, str]
    library: tuple[LibraryFile, ...] = ()
    switches: Parameters = ()
    preload_rules: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)


def tuned_files(table: SelectionTable, mpi: Mpi, catalogue: Catalogue, folder: Path) -> TunedFiles:
    """The files of `table` for `folder`; formats without a rule are left out."""
    library = LIBRARIES[mpi.kind]
    folder = folder.absolute()
    texts = {TABLE_FILE: table_text(table, folder)}
    table = table.for_files()
    library_table = replace(table, rules=tuple(rule for rule in table.rules if rule.algorithm.provider != OWN))
    own_rules = [rule for rule in table.rules if rule.algorithm.provider == OWN]
    written: list[LibraryFile] = []
    switches: dict[str, str] = {}
    for each in library.files.tuning if library_table.rules else ():
        if not each.is_read_by(mpi):
            continue
        file = _write(each, library_table, catalogue, mpi)
        written.append(LibraryFile(each, len(file.said.rules), file.left_out))
        if file.said.rules:
            texts[each.name] = file.text
            switches |= dict(each.switch_on(folder / each.name, file.text, mpi))
    if own_rules:
        about = [SIMULATED] if table.simulated else []
        texts[PRELOAD_RULES] = own_rules_text(own_rules, [*about, f"from {table.source}"])
    parameters, environment = _with_setting(table, mpi, switches)
    settings = environment | {library.launcher.variable(name): value for name, value in parameters.items()}
    if settings:
        texts[SWITCH_ON] = switch_on_script(SWITCH_ON, settings, folder, mpi)
        texts[SWITCH_OFF] = switch_off_script(SWITCH_OFF, settings)
        texts[MODULE] = module_file(settings, folder, mpi, evidence=TABLE_FILE)
        if library.files.parameter:
            texts[library.files.parameter] = _parameter_file(library, parameters, environment)
    return TunedFiles(texts, tuple(written), tuple(switches.items()), len(own_rules), settings)


def _with_setting(
    table: SelectionTable, mpi: Mpi, switches: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The parameters and the variables that switch on the table's setting and its library's files together."""
    if table.setting is None:
        return dict(switches), {}
    variant = parse_variant(table.setting.settings)
    prepared = PreparedVariant(table.setting.name, variant, mpi, dict(variant.environment))
    try:
        joined = prepared.with_selection(tuple(switches.items()), {})
    except SettingConflictError as conflict:
        raise UserError(
            f"setting {table.setting.name} can't be combined with the tuning files: {conflict}",
            "measure without this variant",
        ) from None
    return dict(joined.parameters), dict(joined.environment)


def _parameter_file(library: Library, parameters: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """The library's file of parameters, which holds variables where they set a parameter."""
    named = dict(parameters)
    missing = []
    for variable, value in environment.items():
        name = library.settings.control(variable)
        if name is None:
            missing.append(f"# {variable}={value} is no parameter: set it in the environment.\n")
        else:
            named[name] = value
    lines = (f"{name} = {value}\n" for name, value in named.items())
    return "".join(["# Change the paths if you move this folder.\n", *lines, *missing])


def _write(format: TuningFile, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
    """The file in `format`. Predicted rules are left out if they would change the choice for other calls."""
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
    why = "left out: a predicted rule, which in this format would change choices that were measured"
    return replace(alone, left_out=(*alone.left_out, *(LeftOut(rule, why) for rule in predicted)))


def _edges(rule: Rule) -> list[Call]:
    """The first and the last call of `rule`."""
    nodes, per_node = max(1, rule.nodes.first), max(1, rule.per_node.first)
    sizes = (rule.sizes.first, rule.sizes.first if rule.sizes.last is None else rule.sizes.last)
    return [Call(rule.collective, rule.ranks.first, nodes, per_node, size) for size in sizes]


def tuned_names(mpi: Mpi) -> tuple[str, ...]:
    """The possible names of the files of `tuned_files` for `mpi`, without the table's."""
    library = LIBRARIES[mpi.kind]
    tuning_files = (each.name for each in library.files.tuning)
    return (*tuning_files, PRELOAD_RULES, SWITCH_ON, SWITCH_OFF, MODULE, *filter(None, (library.files.parameter,)))
