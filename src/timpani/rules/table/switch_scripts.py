"""Scripts that switch tuning files on and off: for a shell, and for environment modules (Tcl).

They find the files in their own folder, so that the folder can be moved. Dash does not name a script that it reads:
there they take the folder into which they were written. They refuse a launcher of another version, whose algorithms
may have other numbers.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from timpani.native.mpi import Mpi

MODULE_NAME = "timpani-tuned"
"""Modules of this name exclude each other; docs/how-to/make-your-library-choose-right.md advises it."""


def switch_on_script(name: str, settings: Mapping[str, str], folder: Path, mpi: Mpi) -> str:
    """The script called `name`, for sh, bash and zsh.

    settings  the library's variables; a value may be the path of a file in `folder`, which is absolute
    """
    library, launcher = f"{mpi.name} {mpi.version}", mpi.mpirun.name
    at_folder = '"$_timpani"/'
    lines = [
        f"# Makes {library} follow the tuning files in this folder: . {name}",
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

    evidence  a file in the folder, by which the module knows that it lies among the files
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
    puts stderr {_tcl("Unload the module to let the library choose by itself; tuning.md lists what each rule gains.")}
}}
conflict {MODULE_NAME}

set folder {_tcl(str(folder))}
if {{[info exists ModulesCurrentModulefile]}} {{
    # `file normalize` follows links in all parts of a path but the last.
    set here [file dirname [file dirname [file normalize [file join $ModulesCurrentModulefile part]]]]
    if {{[file exists [file join $here {_tcl(evidence)}]]}} {{ set folder $here }}
}}
if {{[module-info mode load]}} {{
    catch {{exec {_tcl(launcher)} --version 2>@1}} said
    if {{![regexp {{{version}}} $said]}} {{
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
    """The name of the file in `folder` whose path `value` is; None where it is another value."""
    return value.removeprefix(f"{folder}/") if value.startswith(f"{folder}/") else None


def _tcl(text: str) -> str:
    """One word of Tcl: nothing in it is replaced."""
    return '"' + "".join(f"\\{c}" if c in '\\"$[]{};' else c for c in text) + '"'
