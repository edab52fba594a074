"""What this slice adds; `timpani/slices.py` says how."""

UNCOUNTED_MESSAGES = ("timpani.order.rules:name_uncounted",)
ORDER_KEPT = ("timpani.order.rules:keep_order",)
COMMANDS = ("timpani.order.command_list:COMMANDS",)
