"""The subcommand of this slice: a list that imports nothing of it, since every command of `timpani` reads it."""

from timpani.cli.commands import MEASURE, Subcommand

COMMANDS = (Subcommand("study", MEASURE, "timpani.studies.both_methods:study", passes_on=True),)
