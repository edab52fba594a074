"""Scripts that switch tuning files on and off: for a shell, and for environment modules (Tcl).

They find the tuning files next to themselves, so the folder can be moved. Dash does not give a sourced script its path;
there the script uses the folder into which it was written. The scripts refuse a launcher of another version, because
its algorithms may have other numbers.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from timpani.native.mpi import Mpi

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
            f"export {variable}={shown}",
        ]
    return "\n".join([*lines, "unset _timpani", ""])


def switch_off_script(name: str, settings: Mapping[str, str]) -> str:
    """The script called `name` that removes the variables of `settings`."""
    return f"# Undoes what switch-on.sh set: . {name}\nunset {' '.join(settings)}\n"


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
