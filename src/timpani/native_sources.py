"""Where the native sources are, a user's further algorithms, and tables that C++ and Python share.

The programs include a table, as `collectives/operations.def`, with macros for its rows. A row is a call of its macro,
in C++ as in Python: words, numbers, texts in quotes, and lists of words in parentheses.
"""

import ast
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from timpani.errors import UserError

ALGORITHMS = "TIMPANI_ALGORITHMS"
"""The environment variable that names a folder with a user's algorithms, and CMake's variable for it."""

FURTHER_FILES = "*.[ch]pp"
"""The files of a user's algorithms on which programs depend."""


def sources() -> Path:
    """The native sources: inside an installed package, or the folder `native/` of a checkout."""
    installed = Path(__file__).parent / "native" / "sources"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "native"


def folders_without_mpi(source: Path) -> frozenset[str]:
    """The folders of `source` that are compiled once for all MPI libraries, as its list names them; none without it."""
    listed = source / "folders_without_mpi.txt"
    return frozenset(listed.read_text().split()) if listed.is_file() else frozenset()


def files_of(source: Path, with_mpi: bool) -> dict[str, Path]:
    """By name the files of `source` on which the programs that use MPI depend alone, or those that all depend on.

    The files at the top, which say how all is built, are in both.
    """
    without = folders_without_mpi(source)
    files = {path.relative_to(source).as_posix(): path for path in source.rglob("*") if path.is_file()}
    folder_of = {name: PurePath(name).parent.as_posix() for name in files}
    return {
        name: path
        for name, path in files.items()
        if folder_of[name] == "." or (folder_of[name] not in without) == with_mpi
    }


def further_algorithms() -> Path | None:
    """The folder that TIMPANI_ALGORITHMS names, of which every `.cpp` file is built into the programs; None without.

    UserError where it names no folder.
    """
    named = os.environ.get(ALGORITHMS)
    if not named:
        return None
    folder = Path(named).expanduser().resolve()
    if not folder.is_dir():
        raise UserError(f"{ALGORITHMS} names no folder: {named}", f"make it, or unset {ALGORITHMS}")
    return folder


def further_texts() -> dict[str, str] | None:
    """By name the texts of the files in `further_algorithms`; None without such a folder."""
    folder = further_algorithms()
    if folder is None:
        return None
    return {path.name: path.read_text(errors="backslashreplace") for path in sorted(folder.glob(FURTHER_FILES))}


Value = str | int | float | tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One row: which macro it is a call of, and its values by the names of the macro's columns."""

    macro: str
    values: Mapping[str, Value]


def read_table(text: str) -> list[Row]:
    """The rows of `text`, in their order; ValueError with the line where something is no row of a macro it defines."""
    columns = {
        macro: [name.strip() for name in names.split(",")]
        for macro, names in re.findall(r"^#define (\w+)\((.*)\)$", text, re.MULTILINE)
    }
    code = re.sub(r"^(//|#).*$", "", text, flags=re.MULTILINE)
    return [_row(statement, columns) for statement in ast.parse(code).body]


def _row(statement: ast.stmt, columns: Mapping[str, list[str]]) -> Row:
    match statement:
        case ast.Expr(ast.Call(ast.Name(macro), values, [])) if len(values) == len(columns.get(macro, ())):
            return Row(macro, dict(zip(columns[macro], map(_value, values), strict=True)))
    raise ValueError(f"line {statement.lineno}: {ast.unparse(statement)} is no row")


def _value(node: ast.expr) -> Value:
    match node:
        case ast.Name(word):
            return word
        case ast.Constant(str() | int() | float() as value):
            return value
        case ast.Tuple(words):
            return tuple(str(_value(word)) for word in words)
    raise ValueError(f"line {node.lineno}: {ast.unparse(node)} is no word, number, text or list")
