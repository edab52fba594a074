"""The page of commands, docs/commands.md, from what the command line declares."""

import textwrap
from collections.abc import Iterable
from typing import Any

import typer

from timpani.cli import app
from timpani.cli.manual.command_tree import CommandHelp, ParameterHelp, commands

_HEAD = """# Commands

`timpani COMMAND --help` prints the same. This page comes from the code: `make tables` writes it.

"""
_MAX_LINE_CHARACTERS = 120


def commands_page() -> str:
    """The page in Markdown: a table of all commands, then a section with the options of each."""
    whole: Any = typer.main.get_command(app)
    whole.parse_args(typer.Context(whole, info_name="timpani"), ["--version"])  # names the values of all options
    found = list(commands(whole, "timpani"))
    index = markdown_table(("command", "what it does"), ((_link(each.name), cell(each.summary)) for each in found))
    return _HEAD + index + "".join(map(_section, found))


def _link(name: str) -> str:
    return f"[`{name}`](#{name.replace(' ', '-')})"


def _section(command: CommandHelp) -> str:
    text = "\n\n".join(textwrap.fill(each, _MAX_LINE_CHARACTERS) for each in command.paragraphs)
    table = markdown_table(("option", "default", "what"), map(_row, command.parameters))
    return f"\n## {command.name}\n\n{text}\n\n    {command.usage}\n" + (f"\n{table}" if command.parameters else "")


def _row(parameter: ParameterHelp) -> tuple[str, str, str]:
    named = ", ".join(f"`{each}`" for each in parameter.names) + (f" `{parameter.value}`" if parameter.value else "")
    return cell(named), cell(parameter.default), cell(parameter.help)


def cell(text: str) -> str:
    """`text` in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def markdown_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [head, *rows]
    lines.insert(1, ("---",) * len(head))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
