"""What this slice adds; `timpani/slices.py` says how."""

COMMANDS = ("timpani.order.command_list:COMMANDS",)
