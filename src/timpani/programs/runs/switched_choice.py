"""What a folder that `timpani tune` wrote switches on for a program."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from timpani.campaign.run.session import Session
from timpani.campaign.run.variants import variants
from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES, library_title
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.programs.runs.block_runs import Choice, ProgramComparison
from timpani.stats.compare import ALPHA, INDIFFERENCE, holm
from timpani.study.selection import Rule, SelectionTable
from timpani.study.study import Study
from timpani.study.variant import Variant, parse_named
from timpani.tune.table_file import read_table_to_use
from timpani.tune.tuned_files import PRELOAD_RULES
from timpani.tune.workflow import files_of


def choice_of(folder: Path, library: Mpi) -> Choice:
    """The choice of a tuned folder; UserError where it is of another library, or holds no rule."""
    table = read_table_to_use(folder)
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


_PRELOAD = "LD_PRELOAD"


def choice_of_variant(text: str, library: Mpi) -> Choice:
    """The choice of a variant, as `--variant` has it; UserError for a setting that `library` does not take."""
    name, variant = parse_named(text)
    if variant.mpi:
        raise UserError(
            f"variant {name!r} names another library, and a program is linked with one",
            "compare two programs, or measure the libraries: timpani run … --mpi A --mpi B",
        )
    environment, unset = variants().environment(name, variant)
    if _PRELOAD in (*environment, *unset):
        raise UserError(
            f"variant {name!r} sets or removes {_PRELOAD}, by which the program's calls are counted",
            "preload it in the program's command: env LD_PRELOAD=…",
        )
    _check_in_force(name, variant, library)
    known = LIBRARIES[library.kind]
    parameters = {known.launcher.variable(parameter): value for parameter, value in variant.parameters}
    own = {variable for variable in environment if known.settings.control(variable) is not None}
    return Choice(
        {**environment, **parameters},
        None,
        variant.arguments,
        tuple(variable for variable in environment if variable not in own),
        removed=tuple(sorted(unset)),
    )


def _check_in_force(name: str, variant: Variant, library: Mpi) -> None:
    """Start the library once with the settings; UserError where one is unknown, not in force, or does not start."""
    study = Study.check(
        {
            "collectives": {"barrier": ["default"]},
            "ranks": 2,
            "sizes": [0],
            "launches": 1,
            "variants": {name: str(variant)},
        },
        f"variant {name!r}",
    )
    planned = Session.prepare(study, str(library.mpirun), oversubscribe=True).plan
    # The program's ranks may be bound in any way, and on other nodes it may call other collectives.
    variants().check(planned.on_shared_cores(1), build, components=False)


def slower_collectives(found: ProgramComparison, table: SelectionTable) -> list[str]:
    """The collectives with a rule that take significantly longer with the choice, and not practically the same time.

    Holm's correction is for all of them. Waiting for late ranks does not count: a slow collective makes ranks late for
    the next one.
    """
    names = sorted({rule.collective for rule in table.for_files().rules} & found.by_collective.keys())
    compared = [found.by_collective[name] for name in names]
    adjusted, _ = holm(np.array([each.p_value for each in compared]))
    return [
        name
        for name, each, p_value in zip(names, compared, adjusted, strict=True)
        if each.high < INDIFFERENCE[0] and p_value <= ALPHA
    ]


def without_slower(table: SelectionTable, slower: Iterable[str]) -> SelectionTable:
    """`table` without the rules of the `slower` collectives; without any rule or setting if no collective is slower.

    Then the cause may be the setting, a file that also changes calls without a rule, or several
    small losses.
    """
    names = set(slower)

    def kept(rules: Iterable[Rule]) -> tuple[Rule, ...]:
        return tuple(rule for rule in rules if names and rule.collective not in names)

    predicted = table.predicted
    if predicted and predicted.in_files:
        predicted = replace(predicted, rules=kept(predicted.rules))
    return replace(table, rules=kept(table.rules), predicted=predicted, setting=table.setting if names else None)
