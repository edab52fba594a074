"""What a folder that `timpani tune` wrote switches on for a program."""

from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.registry import library_title
from timpani.native.mpi import Mpi
from timpani.programs.runs.block_runs import Choice
from timpani.rules.table.table_file import TABLE_FILE, read_table
from timpani.rules.table.tuned_files import PRELOAD_RULES
from timpani.rules.workflow import files_of


def choice_of(folder: Path, library: Mpi) -> Choice:
    """The choice of a tuned folder; UserError where it is of another library, or holds no rule."""
    table = read_table(folder / TABLE_FILE)
    if (table.library, table.version) != (library.kind, library.version):
        raise UserError(
            f"{folder} is for {library_title(table.library, table.version)}, and the program runs with {library.title}",
            "start the program with the library that was measured",
        )
    files = files_of(table, library, folder)
    rules = folder / PRELOAD_RULES if PRELOAD_RULES in files.texts else None
    missing = [name for name in files.texts if not (folder / name).exists()]
    if missing:
        raise UserError(f"{folder / missing[0]} is lost", "write the files anew: timpani tune")
    if not files.settings and rules is None:
        raise UserError(
            f"{folder} holds no rule, so the program would run as it does without",
            "if its points are undecided, measure longer: timpani tune --budget; else the default is as good",
        )
    read = [each.format.name for each in files.library if each.rules]
    return Choice(files.settings, rules, texts={name: (folder / name).read_text(errors="replace") for name in read})
