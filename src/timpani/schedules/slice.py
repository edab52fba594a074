"""What this slice adds; `timpani/slices.py` says how."""

BUILT_IN_ALGORITHMS = ("timpani.schedules.algorithms.verification:own_catalogue",)
COMMANDS = ("timpani.schedules.command_list:COMMANDS",)
DEFAULT_MESSAGES = ("timpani.schedules.algorithms.fingerprint:default_messages",)
PREDICTED_RULES = ("timpani.schedules.predict.predicted_rules:predicted_rules",)
STORED_PREDICTIONS = ("timpani.schedules.predict.stored:stored_predictions",)
MESSAGE_WORDS = ("timpani.schedules.algorithms.fingerprint:message_words",)
