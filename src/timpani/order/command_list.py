"""The subcommand of this slice: a list that does not import it, since every command of `timpani` reads it."""

from timpani.cli.commands import READ, Subcommand

COMMANDS = (Subcommand("order", READ, "timpani.order.commands:order"),)
