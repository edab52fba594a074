"""The subcommands of this slice: a list that imports none of them, since every command of `timpani` reads it."""

from timpani.cli.commands import PREDICT, PROGRAMS, Subcommand

COMMANDS = (
    Subcommand("prove", PROGRAMS, "timpani.schedules.commands:prove"),
    Subcommand("verify", PREDICT, "timpani.schedules.commands:verify"),
    Subcommand("draw", PREDICT, "timpani.schedules.drawing:draw"),
    Subcommand("predict", PREDICT, "timpani.schedules.commands:predict"),
)
