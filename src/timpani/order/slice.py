"""What this slice adds; `timpani/slices.py` says how."""

UNCOUNTED_MESSAGES = ("timpani.order.rules:name_uncounted",)
ORDERED_RULES = ("timpani.order.rules:ordered_rules",)
COMMANDS = ("timpani.order.command_list:COMMANDS",)
