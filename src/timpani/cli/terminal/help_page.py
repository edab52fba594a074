"""Help pages: what stands for an option's value, and how one command shows the help of another."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption

_WORDS = {int: "N", float: "X", Path: "PATH"}
"""The word for a value, by the type that the shell's word is converted to."""


class HelpInWords(TyperGroup):
    """A group whose help pages, and those of its commands, name no types of Python: a switch shows no value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As any group does, after naming the values of all options below it."""
        _name_values(self, ctx)
        return super().parse_args(ctx, args)


def _name_values(command: Any, context: Any) -> None:
    for each in command.get_params(context):
        if isinstance(each, TyperOption) and each.metavar is None:
            each.metavar = _word(each)
    for below in getattr(command, "commands", {}).values():
        _name_values(below, context)


def _word(option: TyperOption) -> str:
    """The word for an option's value; a number within limits is an x, as in the limits that typer adds: `x [x>=1]`."""
    if option.is_flag:
        return ""
    kind = option.type_descriptor
    if kind.is_ranged:
        return "x"
    return _WORDS.get(kind.annotation, "TEXT, …" if kind.is_list else "TEXT")


def help_(
    context: typer.Context,
    command: Annotated[
        list[str] | None, typer.Argument(help="The command: run, or lab up.", show_default=False)
    ] = None,
) -> None:
    """Show the help of Timpani, or of one of its commands."""
    whole = context.find_root()
    whole.command.main([*(command or []), "--help"], prog_name=whole.info_name, standalone_mode=False)
