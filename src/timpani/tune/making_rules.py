"""Measure what rules are made from, write their files, and confirm them."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import typer

from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
from timpani.cli.terminal.measuring import measure_or_exit, print_plan
from timpani.cli.terminal.options import PROGRAM_STUDY, WhereOptions
from timpani.errors import UserError
from timpani.libraries.rules import replacing_library
from timpani.machine.detect import resolve
from timpani.native.announce import working
from timpani.native.build import build
from timpani.report import runnable_study
from timpani.report.document.formats import render
from timpani.report.document.output_files import write_files
from timpani.slices import Hook
from timpani.study.cell import Cell
from timpani.study.defaults import PROGRAM_REGRET
from timpani.study.study import Study
from timpani.tune.confirming import confirm_folder
from timpani.tune.source_warnings import made_from
from timpani.tune.table_file import TABLE_FILE, read_table, seal_page
from timpani.tune.tuned_files import PRELOAD_RULES, SWITCH_ON
from timpani.tune.tuned_page import PAGE, tuned_document, tuned_lines
from timpani.tune.workflow import (
    DECIDING_FOLDER,
    ConfirmRequest,
    OrderOfRules,
    PredictionReach,
    Target,
    TimeBudget,
    budget_division,
    deciding_study,
    make_rules,
    measure_boundaries,
    prepare_deciding,
)

Until = Literal["campaign", "rules"]
"""The last thing that `tune` does: measure the campaign that decides, or write rules and not confirm them."""

_SAVINGS: Hook[Callable[[Path, Sequence[Path], Path | None], None]] = Hook("PROGRAM_SAVINGS")
"""Prints what the algorithms measured in campaigns are expected to save the program of a profile, and how to run the
program with the files of a folder, if there are some."""


def decisive_study(
    what: list[str] | None, profile: Path | None, options: Mapping[str, object], simulated: bool
) -> Study:
    """The study of `what`, or of what the program of `profile` calls: a race, unless `options` name its launches."""
    if profile is None:
        return runnable_study(what or [], deciding_study(what or [], options, simulated=simulated))
    races = not simulated and not options.keys() & {"launches", "regret"}
    return runnable_study(
        [], PROGRAM_STUDY.only("--for")(profile, {"regret": PROGRAM_REGRET, **options} if races else options, ())
    )


def measure_and_confirm(
    study_of: Callable[[bool], Study],
    place: WhereOptions,
    mpi: str | None,
    output: Path,
    profile: Path | None,
    *,
    force: bool,
    dry_run: bool,
    until: Until | None,
    order: OrderOfRules = "any",
) -> int:
    """Measure, write the files and confirm them; the exit status, 0 unless cells were abandoned.

    study_of  the study, given whether times are simulated
    profile   of a program, whose expected savings are printed; None: no program
    until     the last thing to do; None: the confirmation
    order     of rules for reductions
    """
    machine = resolve(place.on, mpi) if place.on else None
    target = Target(mpi, machine, place.oversubscribe)
    study = study_of(target.simulated)
    if study.budget is not None:
        typer.echo(budget_division(study.budget), err=True)
    plan = prepare_deciding(study, target, TimeBudget(study.budget)).plan
    if dry_run:
        print_plan(plan)
        typer.echo("\nthen sizes between those at which the choice changes, and the confirmation of the files")
        return 0
    written = (output / TABLE_FILE).exists() and not force  # resume: a confirmation may have removed rules
    if written and order != "any":
        raise UserError(
            f"{output} has rules, and --{order} chooses when rules are made",
            f"`timpani confirm {shlex.quote(str(output))}` confirms them; --force makes new ones",
        )
    for library in plan.libraries:
        build(library)
        replacing_library(library)  # the confirmation may need it
    budget = TimeBudget(study.budget)  # from here on: compiling takes none of it
    campaigns, killed = _measure_choices(study, target, output, budget, written, until)
    if until == "campaign":
        return int(killed > 0)
    if not written:
        write_rules(campaigns, output, mpi, force, order=None if target.simulated and order == "any" else order)
    if profile:
        _SAVINGS.only("--for")(profile, campaigns, output if can_be_confirmed(output) else None)
    if until is None and can_be_confirmed(output):
        confirm_folder(output, campaigns, ConfirmRequest(mpi=mpi, machine=machine, budget=budget))
    return int(killed > 0)


def can_be_confirmed(output: Path) -> bool:
    """Whether the folder has files to switch on; not of simulated times, which would repeat themselves."""
    switchable = any((output / name).exists() for name in (SWITCH_ON, PRELOAD_RULES))
    return switchable and not read_table(output / TABLE_FILE).simulated


def _measure_choices(
    study: Study, target: Target, output: Path, budget: TimeBudget, written: bool, until: Until | None
) -> tuple[list[Path], int]:
    """The campaigns to make rules from, and how many cells were abandoned; where rules are `written` and a budget ended
    the campaigns, these are not continued: the rules would not follow."""

    def measure(session: Session, folder: Path, prove: Callable[[Cell], bool] | None = None) -> Outcome:
        with choosing:
            return measure_or_exit(
                session,
                folder,
                prove,
                lambda _: "rules are made without them; to measure them, choose another folder",
                "choosing has used its part of the budget",
            )

    if written and budget.seconds is not None:
        with prepare_deciding(study, target, budget).open(output / DECIDING_FOLDER):  # raises if it is another study
            return list(map(Path, read_table(output / TABLE_FILE).campaigns)), 0
    with working("choosing algorithms from what was measured") as choosing:
        if until == "campaign":
            return [], measure(prepare_deciding(study, target, budget), output / DECIDING_FOLDER).killed
        found = measure_boundaries(study, target, output, measure, budget, typer.echo)
    if found.unrefined:
        typer.echo("the budget leaves no time for sizes between those at which the choice changes", err=True)
    return found.campaigns, found.killed


def write_rules(
    campaigns: list[Path],
    output: Path,
    mpi: str | None,
    force: bool,
    beyond: PredictionReach | None = None,
    order: OrderOfRules | None = None,
) -> None:
    """Write the table of `campaigns` and its files, over existing ones only with `force`.

    order  as of `make_rules`
    """
    with working("making rules"):
        made = make_rules(campaigns, output, mpi, beyond, order, typer.echo)
        known = made_from(campaigns, made.campaign)
    page = render(tuned_document(made.table, made.files, output, made.library.name, known), "markdown")
    texts = {**made.files.texts, PAGE: seal_page(page, made.files.texts[TABLE_FILE])}
    write_files({Path(name): text.encode() for name, text in texts.items()}, output, force)
    for line in (*tuned_lines(made.table, made.files, output, known), *made.unwritten_settings):
        typer.echo(line)
