"""Read a table of the native sources, as `collectives/operations.def`, without a compiler.

The programs include such a file with macros for its rows. A row is a call of its macro, in C++ as in Python: words,
numbers, texts in quotes, and lists of words in parentheses.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

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
