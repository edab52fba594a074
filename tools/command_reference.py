"""The page of commands, docs/commands.md, from what the command line declares."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import typer

from timpani.cli import app

_HEAD = """# Commands

`timpani COMMAND --help` prints the same. This page comes from the code: `make tables` writes it.

"""
_MAX_LINE_CHARACTERS = 120


def commands_page() -> str:
    """The page in Markdown: a table of all commands, then a section with the options of each."""
    whole: Any = typer.main.get_command(app)
    whole.parse_args(typer.Context(whole, info_name="timpani"), ["--version"])  # names the values of all options
    commands = list(_commands(whole, "timpani"))
    index = _table(("command", "what it does"), ((_link(name), _summary(each)) for name, each in commands))
    return _HEAD + index + "".join(_section(name, each) for name, each in commands)


def _commands(group: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Each command by the words that a user types, those of groups too."""
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


def _link(name: str) -> str:
    return f"[`{name}`](#{name.replace(' ', '-')})"


def _paragraphs(command: Any) -> list[str]:
    return [" ".join(each.split()) for each in (command.help or "").replace("\b", "").split("\n\n") if each.strip()]


def _summary(command: Any) -> str:
    return _cell("".join(_paragraphs(command)[:1]))


def _section(name: str, command: Any) -> str:
    parameters = [each for each in command.params if not each.hidden and each.name != "help"]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    words = [name, *(["[OPTIONS]"] if len(arguments) < len(parameters) else []), *map(_argument, arguments)]
    text = "\n\n".join(textwrap.fill(each, _MAX_LINE_CHARACTERS) for each in _paragraphs(command))
    table = _table(("option", "default", "what"), map(_row, parameters))
    return f"\n## {name}\n\n{text}\n\n    {' '.join(words)}\n" + (f"\n{table}" if parameters else "")


def _argument(argument: Any) -> str:
    word = argument.name.upper() + ("…" if argument.nargs == -1 else "")
    return word if argument.required else f"[{word}]"


def _row(parameter: Any) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        named = f"`{_argument(parameter)}`"
    else:
        options = [*parameter.opts, *parameter.secondary_opts]
        named = ", ".join(f"`{each}`" for each in options)
        named += f" `{parameter.metavar}`" if parameter.metavar else ""
    return _cell(named), _cell(_default(parameter)), _cell(parameter.help or "")


def _default(parameter: Any) -> str:
    """What holds without the option, in the words of the help page; empty for a switch."""
    if parameter.required:
        return "required"
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if not parameter.show_default or parameter.default in (None, True, False, (), []):
        return ""
    return str(getattr(parameter.default, "value", parameter.default))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, *rows]
    lines.insert(1, ("---",) * len(head))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
