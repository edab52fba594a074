"""The tuning workflow: measure, refine the boundaries between choices, generate rules, confirm them, drop losers.

The caller passes a `MeasureSession`, which shows progress during the long measurements. If the campaign is stopped, the
`MeasureSession` raises an exception, which ends the workflow. The same call resumes it.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Literal, Protocol

import polars as pl

from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.plan.estimate import start_seconds
from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
from timpani.errors import UserError
from timpani.libraries.library import HostList
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.model import Machine
from timpani.native.mpi import Mpi
from timpani.slices import Hook
from timpani.study.cell import Cell
from timpani.study.compose import compose
from timpani.study.defaults import LAUNCHES, TUNING_REGRET
from timpani.study.schema import CELL
from timpani.study.selection import PredictedRules, SelectionTable
from timpani.study.study import Study
from timpani.study.words import show_seconds
from timpani.tune.confirmation import (
    ConfirmedPoint,
    Unreached,
    confirm,
    losing_points,
    unreached_calls,
    without_losing_rules,
)
from timpani.tune.confirmation_study import (
    cells_to_prove,
    confirmation_study,
    placed_as_measured,
    refining_study,
    rules_first,
)
from timpani.tune.from_campaign import check_made_from, installed_library, load_together, setting_of, table_of
from timpani.tune.setting_check import SettingPoint, losing, setting_points
from timpani.tune.tuned_files import TunedFiles, tuned_files


@dataclass
class TimeBudget:
    """`seconds` that `clock` counts from the creation of this object; None: unlimited."""

    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    @property
    def spent(self) -> float:
        """The seconds since the creation of this object."""
        return self.clock() - self._started

    def share(self, part: float) -> float | None:
        """The fraction `part` of the remaining time in seconds, at least 0; None: unlimited."""
        if self.seconds is None:
            return None
        return part * max(0.0, self.seconds - self.spent)


MAX_ROUNDS = 3
"""Maximum number of confirmation rounds. Each round drops the rules that lost, and the next round confirms the rest."""

DECIDING_FOLDER = "campaign"
"""Name of the campaign from which rules are chosen: a subfolder of the folder with the tuning files."""

_DECIDING_SHARE, _BETWEEN_SHARE, _ROUND_SHARE = 0.5, 0.5, 0.75
"""Fractions of the remaining time: for the deciding campaign, for all refining campaigns, for each confirmation.

While no algorithm is worth a rule, the first fraction is for choosing again, if LAUNCHES launches remain for a
confirmation."""

_MAX_HALVINGS = 6  # of a gap between measured sizes: a ratio of 4,000 shrinks to 1.14


@dataclass(frozen=True)
class PredictionReach:
    """How far to predict: up to `ranks` on `machine`; `in_files`: write the predicted rules into the tuning files."""

    ranks: int
    machine: Machine | None = None
    in_files: bool = False


OrderOfRules = Literal["any", "same-order", "reproducible"]
"""Rules for reductions: any, read what they change; those that change no bit; those by which results depend on neither
message size nor placement."""

_ORDERED: Hook[Callable[[SelectionTable, Campaign, Mpi, OrderOfRules, Callable[[str], None]], SelectionTable]] = Hook(
    "ORDERED_RULES"
)

_PREDICTED_RULES: Hook[Callable[[Campaign, PredictionReach, Mpi], PredictedRules]] = Hook("PREDICTED_RULES")


class MeasureSession(Protocol):
    """Measures a prepared campaign, new or resumed, into its folder and shows its progress."""

    def __call__(self, session: Session, folder: Path, prove: Callable[[Cell], bool] | None = None, /) -> Outcome:
        """How the campaign ended. The messages of each cell that `prove` accepts are counted."""
        ...


@dataclass(frozen=True)
class Target:
    """Library (None: the first one found) and machine (None: this one) of the campaigns to measure."""

    mpi: str | None = None
    machine: Machine | None = None
    oversubscribe: bool = False
    hosts: HostList = ()

    @property
    def simulated(self) -> bool:
        """Whether times are simulated."""
        return self.machine is not None and self.machine.simulated

    def prepare(self, study: Study, seconds: float | None = None) -> Session | None:
        """The session of `study` for `seconds` (None: unlimited); None if they don't suffice to start each program."""
        session = Session.prepare(
            study.model_copy(update={"budget": None}), self.mpi, self.oversubscribe, self.machine, self.hosts
        )
        if seconds is not None:
            if seconds < session.plan.starting_seconds:
                return None
            limited = session.plan.study.model_copy(update={"budget": seconds})
            session.plan = replace(session.plan, study=limited)
        return session


@dataclass(frozen=True)
class MeasuredChoices:
    """The campaigns from which rules can be generated.

    killed     number of cells without a result because their launches were killed
    unrefined  whether the time ran out before all boundaries between rules were refined
    """

    campaigns: list[Path]
    killed: int
    unrefined: bool = False


@dataclass(frozen=True)
class GeneratedRules:
    """Rules, their files, and the merged campaigns from which they were generated.

    unwritten_settings  why faster settings are not written, a sentence each
    """

    table: SelectionTable
    files: TunedFiles
    library: Mpi
    campaign: Campaign
    unwritten_settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConfirmationRound:
    """One confirmation of a table.

    unreached  what the budget left out
    setting    points of the table's setting, alone and with the rules; none without a setting
    remaining  the table without the rules that lost, and without a setting that lost; the same table if none lost
    files      files of `remaining`; None if nothing lost
    killed     number of cells without a result because their launches were killed
    """

    table: SelectionTable
    library: Mpi
    measured: Campaign
    confirmed: list[ConfirmedPoint]
    unreached: Unreached
    setting: list[SettingPoint]
    remaining: SelectionTable
    files: TunedFiles | None
    killed: int


@dataclass(frozen=True)
class ConfirmRequest:
    """How to confirm rules.

    launches   None: as many as the campaign had, at least `LAUNCHES`
    mpi        None: the library that was measured
    machine    None: the machine and hosts on which the rules were measured
    placement  of the ranks; None: as measured
    """

    launches: int | None = None
    mpi: str | None = None
    machine: Machine | None = None
    placement: str | None = None
    budget: TimeBudget = field(default_factory=TimeBudget)


def budget_division(seconds: float) -> str:
    """How a budget is divided, in words."""
    return f"{show_seconds(seconds)}: {show_seconds(_DECIDING_SHARE * seconds)} to choose, the rest to confirm"


def deciding_study(what: list[str], options: Mapping[str, object], *, simulated: bool) -> Study:
    """The study of `what` with `options`: a race, unless it is simulated or sets `launches` or `regret`.

    Simulated times do not vary, so they need no race.
    """
    named = compose(what, options)
    if simulated or named.model_fields_set & {"launches", "regret"}:
        return named
    return compose(what, {**options, "regret": TUNING_REGRET})


def prepare_deciding(study: Study, target: Target, budget: TimeBudget) -> Session:
    """The planned campaign from which rules are chosen; UserError if its share of the time is too short."""
    session = target.prepare(study, budget.share(_DECIDING_SHARE))
    if session is None:
        raise _too_short(study, target, budget, _DECIDING_SHARE)
    return session


def measure_boundaries(
    study: Study, target: Target, output: Path, measure: MeasureSession, budget: TimeBudget, note: Callable[[str], None]
) -> MeasuredChoices:
    """Measure `study`, then refine the sizes at which the choice changes. The campaigns are folders in `output`.

    note  gets why choosing continues after its part of the budget
    """
    campaigns = [output / DECIDING_FOLDER]
    outcome = measure(prepare_deciding(study, target, budget), campaigns[0])
    while outcome.ended == "budget":
        measured = load_together(campaigns)
        if not table_of(measured, campaigns).is_empty:
            break
        left = budget.share(1) or 0.0
        spare = left - comparison_seconds(measured, with_files=True) / _ROUND_SHARE
        more = min(_DECIDING_SHARE * left, spare)
        again = target.prepare(study, more)
        if again is None:
            break
        note(f"no faster algorithm is found yet: choosing continues for {show_seconds(more)}")
        outcome = measure(again, campaigns[0])
    killed = outcome.killed
    kept = budget.share(1 - _BETWEEN_SHARE)
    for number in range(1, _MAX_HALVINGS + 1):
        measured = load_together(campaigns)
        between = refining_study(table_of(measured, campaigns).gaps, measured)
        if between is None:
            break
        seconds = None
        if kept is not None:
            confirming = comparison_seconds(measured, with_files=True) / _ROUND_SHARE
            seconds = (budget.share(1) or 0.0) - max(kept, confirming)
            if seconds < comparison_seconds(measured):
                return MeasuredChoices(campaigns, killed, unrefined=True)
        session = target.prepare(between, seconds)
        if session is None:
            return MeasuredChoices(campaigns, killed, unrefined=True)
        campaigns.append(output / f"{DECIDING_FOLDER}-between-{number}")
        killed += measure(session, campaigns[-1]).killed
    return MeasuredChoices(campaigns, killed)


def comparison_seconds(measured: Campaign, with_files: bool = False) -> float:
    """About how many seconds the launches of a comparison take, `with_files` each in two starts, without and with them.

    Each takes about as long as the shortest of `measured`: late launches of a race measure few algorithms, as a
    comparison does. The budget may have ended the last launch.
    """
    by_launch = measured.interleavings.group_by("launch").agg(pl.col("seconds").sum()).sort("launch")
    seconds = by_launch["seconds"].to_list()
    starts = sum(start_seconds(measured.header.mpi.kind, ranks) for ranks in measured.results["ranks"].unique())
    return LAUNCHES * ((1 + with_files) * starts + min(seconds[:-1] or seconds, default=0.0))


def make_rules(
    campaigns: Sequence[Path],
    output: Path,
    mpi: str | None,
    beyond: PredictionReach | None = None,
    order: OrderOfRules | None = None,
    note: Callable[[str], None] = print,
) -> GeneratedRules:
    """The rules of `campaigns` and their files for `output`, not yet written; `beyond` asks for predicted rules.

    order  read orders of addition, with lines through `note`; None: nothing is read
    """
    campaign = load_together(campaigns)
    table = table_of(campaign, campaigns)
    library = installed_library(campaign, mpi)
    if order:
        table = with_orders(table, campaign, library, order, note)
    if beyond:
        predicted_rules = _PREDICTED_RULES.only("--predict-to")
        table = replace(table, predicted=predicted_rules(campaign.of_variant(table.variant), beyond, library))
    return GeneratedRules(table, files_of(table, library, output), library, campaign, setting_of(campaign)[1])


def with_orders(
    table: SelectionTable, campaign: Campaign, library: Mpi, order: OrderOfRules, note: Callable[[str], None]
) -> SelectionTable:
    """The table with its rules' orders of addition, as `order` asks for; a line for each rule through `note`.

    UserError where it is asked for by an option, and the part that reads orders is missing.
    """
    if order == "any" and not _ORDERED.names():
        return table
    try:
        return _ORDERED.only(f"--{order}")(table, campaign.of_variant(table.variant), library, order, note)
    except UserError as error:
        if order != "any":
            raise
        note(f"what the rules change in the order of addition is unknown: {error}")  # nobody asked: rules are written
        return table


def prepare_confirmation(
    table: SelectionTable, made_from: Campaign, folder: Path, request: ConfirmRequest
) -> tuple[Session, bool]:
    """Plan the confirmation of `table` in `folder`, its rules first; UserError if the remaining time is too short.

    Also returns whether a budget leaves other algorithms and test sizes out.
    """
    check_made_from(table, made_from)
    study = confirmation_study(table, made_from, folder, request.launches, request.placement)
    described = made_from.header.machine
    machine = request.machine or described.cluster
    hosts = described.hosts if machine and request.machine is None else ()
    target = Target(str(installed_library(made_from, request.mpi).mpirun), machine, True, hosts)
    seconds = request.budget.share(_ROUND_SHARE)
    session = target.prepare(study, seconds)
    if session is None:
        raise _too_short(study, target, request.budget, _ROUND_SHARE)
    plan = session.plan if request.placement else placed_as_measured(session.plan, made_from)
    everything = LAUNCHES * (plan.starting_seconds + len(plan.cells) * made_from.cell_seconds)
    rules_only = seconds is not None and everything > seconds
    session.plan = rules_first(plan, table, made_from, rules_only)
    return session, rules_only


def confirmation_folder(table: SelectionTable, folder: Path, placement: str | None) -> Path:
    """The campaign that confirms `table`; each round has less than the one before."""
    placed = "" if placement is None else f"-by-{placement.replace(':', '-')}"
    setting = "-and-setting" if table.setting else ""
    return folder / f"confirmation-of-{len(table.rules)}{setting}{placed}"


def confirm_rules(
    table: SelectionTable, made_from: Campaign, folder: Path, request: ConfirmRequest, measure: MeasureSession
) -> Iterator[ConfirmationRound]:
    """Confirm the rules in `folder` in up to MAX_ROUNDS rounds. Each round drops the rules and the setting that lost.

    The caller writes the files of a round into `folder` before it requests the next round, which measures these files.
    """
    check_made_from(table, made_from)
    library = installed_library(made_from, request.mpi)
    for _ in range(MAX_ROUNDS):
        session, rules_only = prepare_confirmation(table, made_from, folder, request)
        into = confirmation_folder(table, folder, request.placement)
        outcome = measure(session, into, cells_to_prove(table, made_from))
        measured = load(into)
        confirmed = confirm(table, made_from, measured)
        lost = losing_points(confirmed)
        remaining = without_losing_rules(table, lost) if lost else table
        points = setting_points(table, measured)
        if losing(points):
            remaining = replace(remaining, setting=None)
        files = None if remaining == table else files_of(remaining, library, folder)
        planned = [each.cell for each in session.plan.cells]
        others = measured.results.select(CELL).n_unique() > len(planned)  # by an earlier start with more time
        unreached = Unreached(unreached_calls(table, made_from, measured, planned), rules_only and not others)
        yield ConfirmationRound(
            table, library, measured, confirmed, unreached, points, remaining, files, outcome.killed
        )
        if files is None or remaining.is_empty:
            return
        table = remaining


def _too_short(study: Study, target: Target, budget: TimeBudget, part: float) -> UserError:
    session = target.prepare(study)
    assert session, "without a limit every study is planned"
    starting = session.plan.starting_seconds
    return UserError(
        f"{study.title or 'the first campaign'} has {budget.share(part) or 0:.0f} s of the budget, but starting each "
        f"of its programs once takes about {ceil(starting)} s",
        f"raise the budget (--budget {ceil(budget.spent + 2 * starting / part)}s), or repeat the command: it resumes",
    )


def files_of(table: SelectionTable, library: Mpi, folder: Path) -> TunedFiles:
    """The files of `table` for `folder`, in the formats that `library` reads."""
    return tuned_files(table, library, LIBRARIES[library.kind].algorithms.catalogue(library), folder)
