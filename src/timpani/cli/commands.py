"""The list of subcommands, the group that loads the chosen one alone, and `timpani help` and `timpani completion`."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer._completion_shared import get_completion_script
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from timpani.slices import Hook

PANELS = MEASURE, READ, TUNE, PROGRAMS, PREDICT, CLUSTERS, ABOUT = (
    "Measure",
    "Read what was measured",
    "Tune a library",
    "Replace the collectives of programs",
    "Verify, draw and predict algorithms",
    "Clusters",
    "About",
)
"""The panels of commands in `timpani --help`."""


@dataclass(frozen=True)
class Subcommand:
    """A subcommand: its module is imported when it is chosen.

    function   `module:name` of the function. Where this is the callback of the module's `app`, the command is a group.
               A text EXAMPLES of the module stands below the help
    passes_on  whether it takes options of other commands
    """

    name: str
    panel: str
    function: str
    passes_on: bool = False

    def load(self) -> Any:
        """The command as typer runs it."""
        place, _, name = self.function.partition(":")
        module = import_module(place)
        group = getattr(module, "app", None)
        if group and group.registered_callback.callback.__name__ == name:
            return typer.main.get_group(group)
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        settings = {"allow_extra_args": True, "ignore_unknown_options": True} if self.passes_on else {}
        examples = getattr(module, "EXAMPLES", None)
        alone.command(self.name, epilog=examples, context_settings=settings)(getattr(module, name))
        return typer.main.get_command(alone)

    def listed(self) -> TyperCommand:
        """The command in a list, with the first paragraph of its help, which is read without importing it."""
        place, _, name = self.function.partition(":")
        spec = find_spec(place)
        source = Path(spec.origin).read_text() if spec and spec.origin else ""
        [function] = (
            each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef) and each.name == name
        )
        summary = (ast.get_docstring(function) or "").partition("\n\n")[0]
        return TyperCommand(self.name, help=summary, rich_help_panel=self.panel)


SLICE_COMMANDS: Hook[Sequence[Subcommand]] = Hook("COMMANDS")

_COMMANDS = (
    Subcommand("doctor", MEASURE, "timpani.cli.cluster:doctor"),
    Subcommand("list", MEASURE, "timpani.cli.listing:list_"),
    Subcommand("run", MEASURE, "timpani.cli.run:run"),
    Subcommand("import", MEASURE, "timpani.cli.files:import_"),
    Subcommand("verdict", READ, "timpani.cli.show:verdict"),
    Subcommand("show", READ, "timpani.cli.show:show"),
    Subcommand("report", READ, "timpani.cli.report:report"),
    Subcommand("compare", READ, "timpani.cli.compare:compare"),
    Subcommand("fit", READ, "timpani.cli.fit:fit"),
    Subcommand("check", READ, "timpani.tune.commands:check"),
    Subcommand("bundle", READ, "timpani.cli.files:bundle"),
    Subcommand("merge", READ, "timpani.cli.files:merge"),
    Subcommand("tune", TUNE, "timpani.tune.commands:tune"),
    Subcommand("confirm", TUNE, "timpani.tune.confirm:confirm"),
    Subcommand("rules", PROGRAMS, "timpani.tune.commands:rules"),
    Subcommand("machine", CLUSTERS, "timpani.cli.cluster:machine"),
    Subcommand("hostfile", CLUSTERS, "timpani.cli.cluster:hostfile"),
    Subcommand("script", CLUSTERS, "timpani.cli.job:script", passes_on=True),
    Subcommand("lab", CLUSTERS, "timpani.cli.lab:lab"),
    Subcommand("help", ABOUT, "timpani.cli.commands:help_"),
    Subcommand("completion", ABOUT, "timpani.cli.commands:completion"),
)
"""The core's commands, in the order of the help."""


class LazyGroup(TyperGroup):
    """Lists the subcommands, and loads the one that was typed. Its help pages, and those of commands, name no types of
    Python: a switch shows no value, and an argument its name alone. Paragraphs fill the lines of the terminal."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        records = [each for part in (_COMMANDS, *SLICE_COMMANDS.added()) for each in part]
        records.sort(key=lambda each: PANELS.index(each.panel))
        self.commands: dict[str, Any] = {each.name: each for each in records}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As any group does, after naming the values of its options."""
        _name_values(self, ctx)
        return super().parse_args(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command as a list shows it."""
        record = self.commands.get(cmd_name)
        return record and record.listed()

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that was typed, loaded."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and self.loaded(name, ctx), rest

    def loaded(self, name: str, ctx: Any) -> Any:
        """The whole command of that name."""
        command = self.commands[name].load()
        for each in (command, *getattr(command, "commands", {}).values()):
            _name_values(each, ctx)
        return command


_WORDS = {int: "N", float: "X", Path: "PATH"}
"""The word for a value, by the type that the shell's word is converted to."""


class _NamedArgument(TyperArgument):
    """An argument that help pages show by its name alone, in brackets where it may be left out."""

    def display_type_rich(self, ctx: Any) -> None:
        """No type stands next to the name."""

    def _usage_display_name(self) -> str:
        name = self.display_name_raw
        return name if self.required else f"[{name}]"


class _LimitedOption(TyperOption):
    """An option whose help names the limits of its number in words, where typer adds `[1<=x<=3]` to its value."""

    def _get_number_range_help_str(self) -> None:
        return None


def _name_values(command: Any, context: Any) -> None:
    """Put words in the place of types for the options and arguments of a command."""
    if command.help:  # typer breaks all paragraphs but the first where their docstring does
        command.help = "\n\n".join(paragraph.replace("\n", " ") for paragraph in cleandoc(command.help).split("\n\n"))
    for each in command.get_params(context):
        if isinstance(each, TyperOption) and hasattr(each, "type_descriptor"):  # typer before 0.29 shows its own words
            if each.metavar is None:
                each.metavar = _word(each)
            if each.type_descriptor.is_ranged:
                _say_limits(each)
        if isinstance(each, TyperArgument):
            each.__class__ = _NamedArgument
            if each.metavar is None:
                each.metavar = (each.name or "").upper() + ("…" if each.nargs != 1 else "")


def _say_limits(option: TyperOption) -> None:
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


COMPLETE = "_TIMPANI_COMPLETE"
"""The environment variable by which a shell asks for words."""


def help_(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(help="The command: run, or lab up.")] = None,
) -> None:
    """Show the help of Timpani, or of one of its commands."""
    whole = context.find_root()
    whole.command.main([*(command or []), "--help"], prog_name=whole.info_name, standalone_mode=False)


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="bash, zsh or fish.")],
) -> None:
    """Print a script that completes commands, studies, algorithms and campaigns: eval "$(timpani completion bash)".

    Write that line into ~/.bashrc. In ~/.zshrc write it after `autoload -Uz compinit; compinit`. For fish:
    timpani completion fish > ~/.config/fish/completions/timpani.fish.
    """
    typer.echo(get_completion_script(prog_name="timpani", complete_var=COMPLETE, shell=shell))
