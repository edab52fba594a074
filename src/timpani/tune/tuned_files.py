"""All files of a selection table: the library's tuning files, Timpani's rules, and scripts that switch them on."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from timpani.campaign.plan.prepared_variant import PreparedVariant, SettingConflictError
from timpani.errors import UserError
from timpani.judge.choose_rules import own_lines, rules_text
from timpani.libraries.catalogue import Catalogue, Parameters
from timpani.libraries.library import Library
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.tuning_file import LeftOut, TuningFile, Written
from timpani.native.mpi import Mpi
from timpani.study.cell import OWN
from timpani.study.selection import SIMULATED, Call, Rule, SelectionTable
from timpani.study.variant import parse_variant
from timpani.tune.table_file import TABLE_FILE, table_text

_BEFORE = "TIMPANI_BEFORE_"
"""Start of the name of a variable that holds what switch-on.sh replaced, as `is VALUE`; empty: it was unset."""

MODULE_NAME = "timpani-tuned"
"""Modules of this name exclude each other. docs/how-to/make-your-library-choose-right.md recommends the name."""


def switch_on_script(name: str, settings: Mapping[str, str], folder: Path, mpi: Mpi) -> str:
    """The script called `name`, for sh, bash and zsh.

    settings  the library's variables; a value may be the path of a file in `folder`, which is absolute
    """
    library, launcher = f"{mpi.name} {mpi.version}", mpi.mpirun.name
    at_folder = '"$_timpani"/'
    lines = [
        f"# Makes {library} follow what was measured for this folder: . {name}",
        '_timpani=$(CDPATH= cd -- "$(dirname -- "${BASH_SOURCE:-$0}")" && pwd)',
        f'[ -f "$_timpani/{name}" ] || _timpani={shlex.quote(str(folder))}',
        f'if [ ! -f "$_timpani/{name}" ]; then',
        f'  echo "{name}: nothing is switched on: its folder was moved; read it from bash or zsh" >&2',
        "  return 1",
        "fi",
        f'case " $({shlex.quote(launcher)} --version 2>&1) " in',
        f'*[!0-9.]"{mpi.version}"[!0-9.]*) ;;',
        f'*) echo "{name}: nothing is switched on: {launcher} on PATH is not {library}" >&2',
        "  return 1 ;;",
        "esac",
    ]
    for variable, value in settings.items():
        inside = _name_inside(value, folder)
        shown = shlex.quote(value) if inside is None else at_folder + shlex.quote(inside)
        lines += [
            f'[ -z "${{{variable}-}}" ] || [ "${variable}" = {shown} ] ||',
            f'  echo "{name}: replaces {variable}=${variable}" >&2',
            f'[ -n "${{{_BEFORE}{variable}+set}}" ] || export {_BEFORE}{variable}="${{{variable}+is ${variable}}}"',
            f"export {variable}={shown}",
        ]
    return "\n".join([*lines, "unset _timpani", ""])


def switch_off_script(name: str, settings: Mapping[str, str]) -> str:
    """The script called `name` that gives the variables of `settings` the values that they had before."""
    lines = [f"# Undoes what switch-on.sh set: . {name}"]
    for variable in settings:
        before = f"{_BEFORE}{variable}"
        restored = f'if [ -n "${before}" ]; then export {variable}="${{{before}#is }}"; else unset {variable}; fi'
        lines.append(f'if [ -n "${{{before}+set}}" ]; then {restored}; unset {before}; fi')
    return "\n".join([*lines, ""])


def module_file(settings: Mapping[str, str], folder: Path, mpi: Mpi, evidence: str) -> str:
    """The module file; `settings` and `folder` as in `switch_on_script`.

    evidence  a file of the folder: if it lies next to the module file, the folder was moved together with it
    """
    library, launcher = f"{mpi.name} {mpi.version}", mpi.mpirun.name
    pairs = []
    for variable, value in settings.items():
        inside = _name_inside(value, folder)
        pairs.append(f"{variable} {_tcl(value) if inside is None else f'[file join $folder {_tcl(inside)}]'}")
    about = f"{library} chooses the algorithms of its collectives by the tuning files that Timpani wrote."
    version = f"(^|[^0-9.]){re.escape(mpi.version)}([^0-9.]|$)"
    return f"""#%Module1.0
module-whatis {_tcl(about)}
proc ModulesHelp {{}} {{
    puts stderr {_tcl(about)}
    puts stderr {_tcl("Unload the module to let the library choose again; tuning.md lists the gain of each rule.")}
}}
conflict {MODULE_NAME}

set folder {_tcl(str(folder))}
if {{[info exists ModulesCurrentModulefile]}} {{
    # `file normalize` follows links in all parts of a path but the last.
    set here [file dirname [file dirname [file normalize [file join $ModulesCurrentModulefile part]]]]
    if {{[file exists [file join $here {_tcl(evidence)}]]}} {{ set folder $here }}
}}
if {{[module-info mode load]}} {{
    catch {{exec {_tcl(launcher)} --version 2>@1}} output
    if {{![regexp {{{version}}} $output]}} {{
        puts stderr {_tcl(f"nothing is switched on: {launcher} on PATH is not {library}; load that library first")}
        break
    }}
}}
foreach {{name value}} [list {" ".join(pairs)}] {{
    if {{[module-info mode load] && [info exists env($name)] && $env($name) ne $value}} {{
        puts stderr "the module replaces $name=$env($name)"
    }}
    setenv $name $value
}}
"""


def _name_inside(value: str, folder: Path) -> str | None:
    """The name of the file in `folder` with the path `value`; None if `value` is no path in `folder`."""
    return value.removeprefix(f"{folder}/") if value.startswith(f"{folder}/") else None


def _tcl(text: str) -> str:
    """`text` as one word of Tcl, without substitutions."""
    return '"' + "".join(f"\\{c}" if c in '\\"$[]{};' else c for c in text) + '"'


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
        texts[PRELOAD_RULES] = rules_text(own_lines(own_rules).lines, [*about, f"from {table.source}"])
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
