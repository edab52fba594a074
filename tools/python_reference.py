"""The page of the Python interface, made with the site, from the signatures and docstrings of what users import."""

import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import timpani
from tools.command_reference import cell, markdown_table

_HEAD = """# The Python interface

[Use Timpani from Python](how-to/use-from-python.md) has examples.
"""
_MAX_LINE_CHARACTERS = 120
_ARGUMENT = re.compile(r"(?P<names>\w+(?:, \w+)*) {2,}(?P<meaning>\S.*)")


def python_page() -> str:
    """The page in Markdown: both functions, an opened campaign, and the error."""
    parts = [
        _HEAD,
        _function(timpani.open),
        _function(timpani.measure),
        f"\n## timpani.OpenedCampaign\n\n{_text(timpani.OpenedCampaign)}\n\n",
        markdown_table(("attribute", "type", "what"), _attributes(timpani.OpenedCampaign)),
        f"\n## timpani.UserError\n\n{_text(timpani.UserError)}\n",
    ]
    return "".join(parts)


def _function(function: Callable[..., Any]) -> str:
    """A section with the signature, the docstring's text, and a table of the arguments that it explains."""
    signature = inspect.signature(function)
    arguments = [_argument(each) for each in signature.parameters.values()]
    call = f"timpani.{function.__name__}({', '.join(arguments)}) -> {_type(signature.return_annotation)}"
    written = textwrap.fill(call, _MAX_LINE_CHARACTERS, initial_indent=" " * 4, subsequent_indent=" " * 8)
    return f"\n## timpani.{function.__name__}\n\n{written}\n\n{_text(function)}\n"


def _argument(parameter: inspect.Parameter) -> str:
    default = parameter.default
    shown = "" if default is inspect.Parameter.empty else f" = {getattr(default, '__name__', repr(default))}"
    stars = str(parameter).partition(parameter.name)[0]
    return f"{stars}{parameter.name}: {_type(parameter.annotation)}{shown}"


def _attributes(kind: type) -> Iterator[tuple[str, str, str]]:
    """The name, the type and the docstring of each public property."""
    for name, each in vars(kind).items():
        getter = each.func if isinstance(each, cached_property) else getattr(each, "fget", None)
        if getter is not None and not name.startswith("_"):
            result = _type(inspect.signature(getter).return_annotation)
            yield f"`{name}`", cell(f"`{result}`"), cell(inspect.getdoc(getter) or "")


def _text(documented: Any) -> str:
    """A docstring as Markdown: its paragraphs, and a table where it explains arguments."""
    paragraphs = (inspect.getdoc(documented) or "").split("\n\n")
    return "\n\n".join(_paragraph(each.splitlines()) for each in paragraphs)


def _paragraph(lines: list[str]) -> str:
    rows: list[tuple[str, str]] = []
    for line in lines:
        if match := _ARGUMENT.fullmatch(line):
            rows.append((", ".join(f"`{name}`" for name in match["names"].split(", ")), match["meaning"]))
        elif rows:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}")
    if rows:
        return markdown_table(("argument", "what"), rows).rstrip()
    return textwrap.fill(" ".join(lines), _MAX_LINE_CHARACTERS)


def _type(hint: Any) -> str:
    """A type as a reader of signatures writes it."""
    if isinstance(hint, str):
        return hint
    if hint is NoneType:
        return "None"
    if get_origin(hint) is Literal:
        return " | ".join(map(json.dumps, get_args(hint)))
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(map(_type, get_args(hint)))
    written = inspect.formatannotation(hint).replace("polars.dataframe.frame.", "polars.")
    return re.sub(r"\b(?:collections\.abc|typing|os|pathlib)\.|'", "", written)
