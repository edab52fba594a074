"""Which study files may have programs of theirs run: those whose contents a person has agreed to once.

A study file can name a script, a library to load and words for a launcher, which are code. So a file that somebody sent
is read, planned and drawn without these, and measured only after `--trust FILE`.
"""

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from timpani.errors import UserError, cannot_write
from timpani.study.variant import PLAIN, Variant

_HARMLESS_VALUE = re.compile(r"[A-Za-z0-9_.,:;^+*=%@-]*", re.ASCII)
"""Values without a path, a space or a character that a shell expands: numbers, switches, lists of components."""

_HARMLESS_VARIABLE = re.compile(r"(OMPI_MCA_|PMIX_MCA_|PRTE_MCA_|MPIR_CVAR_|MPICH_|I_MPI_|UCX_|FI_|PSM2_|OMP_)\w+")
"""Variables of MPI libraries and their transports; others can load code (LD_PRELOAD) or find it elsewhere (PATH)."""

_NAMES_CODE = re.compile(r"agent|path|prefix|preload|exec|launch|wrapper|command|cmd|debugger|file", re.IGNORECASE)
"""In the name of a setting: its value is a program, or a place where programs or libraries are searched."""


def code_of(variant: Variant) -> Iterator[str]:
    """What of `variant` can run code of the person who wrote it, in words."""
    if variant.source:
        yield f"sources {variant.source}"
    if variant.preload:
        yield f"loads {variant.preload}"
    if "/" in variant.mpi:
        yield f"starts the library in {variant.mpi}"
    yield from (f"loads the module {each}" for each in variant.modules)
    yield from (f"sets {each[0]}={each[1]}" for each in variant.environment if not _is_harmless_variable(*each))
    yield from (f"sets {each[0]} to {each[1]}" for each in variant.parameters if not _is_harmless(*each))
    if variant.arguments:
        yield f"gives the launcher {' '.join(variant.arguments)}"


def without_code(variant: Variant) -> Variant:
    """`variant` without what `code_of` names."""
    return replace(
        variant,
        source="",
        preload="",
        mpi="" if "/" in variant.mpi else variant.mpi,
        modules=(),
        environment=tuple(each for each in variant.environment if _is_harmless_variable(*each)),
        parameters=tuple(each for each in variant.parameters if _is_harmless(*each)),
        arguments=(),
    )


def _is_harmless(name: str, value: str) -> bool:
    return not _NAMES_CODE.search(name) and bool(_HARMLESS_VALUE.fullmatch(value))


def _is_harmless_variable(name: str, value: str) -> bool:
    return bool(_HARMLESS_VARIABLE.fullmatch(name)) and _is_harmless(name, value)


def code_in(variants: Mapping[str, Variant]) -> dict[str, list[str]]:
    """By name of a variant what can run code; variants without are left out."""
    found = {name: list(code_of(variant)) for name, variant in variants.items() if variant != PLAIN}
    return {name: what for name, what in found.items() if what}


def not_trusted(file: Path, variant: str, does: list[str]) -> UserError:
    """The error for a file whose variant can run code."""
    return UserError(f"{file} can run programs: its variant {variant!r} {does[0]}", how_to_trust(file))


def how_to_trust(file: Path) -> str:
    """What to do where nobody has agreed to `file`."""
    return f"read the file, and if you trust who wrote it, add --trust {shlex.quote(str(file))}"


def trust(file: Path) -> None:
    """Remember that the contents of `file` are trusted by this user. UserError if there is no such file."""
    checksum = _checksum(file)
    if is_trusted(file):
        return
    known = _known_files()
    try:
        known.parent.mkdir(parents=True, exist_ok=True)
        with known.open("a") as lines:
            lines.write(f"{checksum}  {file.absolute()}\n")
    except OSError as error:
        raise cannot_write(known, error) from None


def is_trusted(file: Path) -> bool:
    """Whether this user has agreed to the contents that `file` has now."""
    try:
        lines = _known_files().read_text(errors="replace").splitlines()
    except OSError:
        return False
    return _checksum(file) in {line.partition(" ")[0] for line in lines}


def _checksum(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"{file} can't be read ({error.strerror})", "name the study file or machine file") from None


def _known_files() -> Path:
    """Lines of a SHA-256 sum and a name."""
    return settings_folder() / "trusted"


def settings_folder() -> Path:
    """`$XDG_CONFIG_HOME/timpani` or `~/.config/timpani`: what Timpani remembers of this user."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".config") / "timpani"
