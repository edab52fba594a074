"""`timpani completion`: what makes a shell complete Timpani's words."""

import os
from typing import Annotated, Literal

import typer

_COMPLETE = "_TIMPANI_COMPLETE"
"""The environment variable by which a shell asks for words."""

_UNBROKEN = "1000"
"""Columns in which rich prints any description of a word as one line."""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="bash, zsh or fish.")],
) -> None:
    """Print a script that completes commands, studies, algorithms and campaigns: eval "$(timpani completion bash)".

    Write that line into ~/.bashrc. In ~/.zshrc write it after `autoload -Uz compinit; compinit`. For fish:
    timpani completion fish > ~/.config/fish/completions/timpani.fish.
    """
    from typer._completion_shared import get_completion_script

    typer.echo(get_completion_script(prog_name="timpani", complete_var=_COMPLETE, shell=shell))


def prepare_completion() -> None:
    """Make `timpani` answer a shell that asks for words."""

    if _COMPLETE in os.environ:
        from typer._completion_classes import completion_init

        os.environ["COLUMNS"] = _UNBROKEN  # fish takes each line as a word
        completion_init()
