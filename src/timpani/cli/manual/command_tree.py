"""Every command as its help describes it, for the page of commands and the man pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


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
    """The commands below a group, those of groups in it too. The group has parsed its words: that names the values.

    A group's default command runs where no other command is named, so it is described by the group's name.
    """
    for word, command in group.commands.items():
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
