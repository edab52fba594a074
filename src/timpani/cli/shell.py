"""`timpani help` and `timpani completion`."""

from typing import Annotated, Literal

import typer
from typer._completion_shared import get_completion_script

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
