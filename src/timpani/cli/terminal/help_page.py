"""Help pages: what stands for a value, and how one command shows the help of another."""

from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

_WORDS = {int: "N", float: "X", Path: "PATH"}
"""The word for a value, by the type that the shell's word is converted to."""


class HelpInWords(TyperGroup):
    """A group whose help pages, and those of its commands, name no types of Python: a switch shows no value, and an
    argument its name alone. Their paragraphs fill the lines of the terminal."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As any group does, after naming the values of all options and arguments below it."""
        _name_values(self, ctx)
        return super().parse_args(ctx, args)


class _NamedArgument(TyperArgument):
    """An argument that help pages show by its name alone, in brackets where it may be left out."""

    def display_type_rich(self, ctx: Any) -> None:
        """No type stands next to the name."""

    def _usage_display_name(self) -> str:
        name = self.display_name_raw
        return name if self.required else f"[{name}]"


def _name_values(command: Any, context: Any) -> None:
    if command.help:  # typer breaks all paragraphs but the first where their docstring does
        command.help = "\n\n".join(paragraph.replace("\n", " ") for paragraph in cleandoc(command.help).split("\n\n"))
    for each in command.get_params(context):
        if isinstance(each, TyperOption) and each.metavar is None:
            each.metavar = _word(each)
        if isinstance(each, TyperOption) and each.type_descriptor.is_ranged:
            _say_limits(each)
        if isinstance(each, TyperArgument):
            each.__class__ = _NamedArgument
            if each.metavar is None:
                each.metavar = (each.name or "").upper() + ("…" if each.nargs != 1 else "")
    for below in getattr(command, "commands", {}).values():
        _name_values(below, context)


class _LimitedOption(TyperOption):
    """An option whose help names the limits of its number in words, where typer adds `[1<=x<=3]` to its value."""

    def _get_number_range_help_str(self) -> None:
        return None


def _say_limits(option: TyperOption) -> None:
    if isinstance(option, _LimitedOption):
        return
    option.__class__ = _LimitedOption
    if option.max is not None:
        limits = f"{option.min or 0} to {option.max}"
    elif option.min in (0, 1):
        return  # a count
    else:
        limits = f"{option.min} or more"
    option.help = f"{option.help} {limits[0].upper()}{limits[1:]}."


def _word(option: TyperOption) -> str:
    """The word for an option's value."""
    if option.is_flag:
        return ""
    kind = option.type_descriptor
    return _WORDS.get(kind.annotation, "TEXT, …" if kind.is_list else "TEXT")


def help_(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(help="The command: run, or lab up.")] = None,
) -> None:
    """Show the help of Timpani, or of one of its commands."""
    whole = context.find_root()
    whole.command.main([*(command or []), "--help"], prog_name=whole.info_name, standalone_mode=False)
