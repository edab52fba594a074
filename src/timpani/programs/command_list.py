"""The subcommands of this slice: a list that imports none of them, since every command of `timpani` reads it."""

from timpani.cli.commands import PROGRAMS, Subcommand

COMMANDS = (
    Subcommand("profile", PROGRAMS, "timpani.programs.commands:profile"),
    Subcommand("preload", PROGRAMS, "timpani.programs.commands:preload"),
)
