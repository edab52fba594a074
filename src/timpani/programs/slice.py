"""What this slice adds; `timpani/slices.py` says how."""

COMMANDS = ("timpani.programs.command_list:COMMANDS",)
PROGRAM_STUDY = ("timpani.programs.commands:study_for",)
PROGRAM_LIBRARY = ("timpani.programs.commands:library_for",)
PROGRAM_SAVINGS = ("timpani.programs.commands:print_savings",)
SHOW_FORMS = ("timpani.programs.forms:SHOW",)
REPORT_FORMS = ("timpani.programs.report_form:REPORT",)
PROVE_FORMS = ("timpani.programs.forms:PROVE",)
CONFIRM_FORMS = ("timpani.programs.confirm:CONFIRM",)
