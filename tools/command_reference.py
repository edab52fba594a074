"""The page of commands, made with the site, from what the command line declares."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import typer

from timpani.cli import app

_HEAD = """# Commands

`timpani COMMAND --help` prints the same.

"""
_MAX_LINE_CHARACTERS = 120


@dataclass(frozen=True)
class ParameterHelp:
    """An argument or option of a command.

    names    of an option: how it is typed; of an argument: its word
    value    the word that stands for an option's value; empty for a switch and for an argument
    default  what holds without it, as the help page shows it; empty for a switch
    """

    names: tuple[str, ...]
    value: str
    default: str
    help: str
    is_argument: bool


@dataclass(frozen=True)
class CommandHelp:
    """A command by the words that a user types, `timpani lab up`, with the paragraphs of its help."""

    name: str
    paragraphs: list[str]
    parameters: list[ParameterHelp]
    examples: list[str]

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return "".join(self.paragraphs[:1])

    @property
    def usage(self) -> str:
        """How it is typed."""
        arguments = [each.names[0] for each in self.parameters if each.is_argument]
        options = ["[OPTIONS]"] if len(arguments) < len(self.parameters) else []
        return " ".join([self.name, *options, *arguments])


def commands(group: Any, name: str) -> Iterator[CommandHelp]:
    """The commands below a group, those of groups in it too.

    A group's default command runs where no other command is named, so it is described by the group's name.
    """
    context = typer.Context(group, info_name="timpani")
    for word, listed in group.commands.items():
        command = group.loaded(word, context) if hasattr(group, "loaded") else listed
        typed = name if word == getattr(group, "default_command", None) else f"{name} {word}"
        if hasattr(command, "commands"):
            yield from commands(command, typed)
        else:
            yield _described(command, typed)


def _described(command: Any, name: str) -> CommandHelp:
    shown = [each for each in command.params if not each.hidden and each.name != "help"]
    return CommandHelp(name, _paragraphs(command.help), [_parameter(each) for each in shown], _examples(command.epilog))


def _paragraphs(text: str | None) -> list[str]:
    return [" ".join(each.split()) for each in (text or "").replace("\b", "").split("\n\n") if each.strip()]


def _examples(epilog: str | None) -> list[str]:
    return [each for each in _paragraphs(epilog) if each.startswith("timpani ")]


def _parameter(parameter: Any) -> ParameterHelp:
    is_argument = parameter.param_type_name == "argument"
    names = (_argument(parameter),) if is_argument else (*parameter.opts, *parameter.secondary_opts)
    value = "" if is_argument else parameter.metavar or ""
    return ParameterHelp(names, value, _default(parameter), " ".join((parameter.help or "").split()), is_argument)


def _argument(argument: Any) -> str:
    word = argument.metavar or argument.name.upper() + ("…" if argument.nargs == -1 else "")
    return word if argument.required else f"[{word}]"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if not parameter.show_default or parameter.default in (None, True, False, (), []):
        return ""
    return str(getattr(parameter.default, "value", parameter.default))


def commands_page() -> str:
    """The page in Markdown: a table of all commands, then a section with the options of each."""
    whole: Any = typer.main.get_command(app)
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
