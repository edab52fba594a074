"""From what to tune to confirmed rules: measure where the choice changes, make the rules, confirm them, drop losers.

Measuring takes long, so the caller passes a `MeasureSession`, which shows the progress. It ends the workflow by an
exception when the campaign was stopped; the same call resumes there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Protocol

from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
from timpani.errors import UserError
from timpani.libraries.hosts import HostList
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.model import Machine
from timpani.native.mpi import Mpi
from timpani.prediction.request import Limits
from timpani.providers.verification_cost import available_memory
from timpani.rules.confirm.confirmation import Confirmed, confirm, losing, without
from timpani.rules.confirm.confirmation_study import cells_to_prove, confirmation_study
from timpani.rules.confirm.refinement import refining_study
from timpani.rules.propose.predicted_rules import PredictionReach, predicted_rules
from timpani.rules.table.from_campaign import check_made_from, installed, table_of
from timpani.rules.table.merged_campaigns import load_together
from timpani.rules.table.tuned_files import TunedFiles, tuned_files
from timpani.rules.time_budget import TimeBudget
from timpani.study.cell import Cell
from timpani.study.compose import compose
from timpani.study.defaults import TUNING_REGRET
from timpani.study.study import Study
from timpani.tuning.decide.selection_table import SelectionTable

MAX_ROUNDS = 3
"""How often rules are confirmed at most: each round but the last is followed by one without the rules that lost."""

DECIDING = "campaign"
"""The folder, in that of the files, of the campaign that rules are chosen from."""

_DECIDING_SHARE, _BETWEEN_SHARE, _ROUND_SHARE = 0.5, 0.25, 0.75
"""Shares of the time that is left: of the campaign that chooses, of each campaign of sizes between, of each round."""

_MAX_HALVINGS = 6  # of a gap between measured sizes: a gap of 4,000 times ends with sizes within 15 %
_CALL_SECONDS = 0.2  # of simulating one call, of a thousand or more; what takes longer is left out and named


class MeasureSession(Protocol):
    """Measures a prepared campaign into its folder, new or resumed, and shows how it proceeds."""

    def __call__(self, session: Session, folder: Path, prove: Callable[[Cell], bool] | None = None, /) -> Outcome:
        """How the campaign ended; messages of each cell that `prove` accepts are counted."""
        ...


@dataclass(frozen=True)
class Target:
    """Where campaigns are measured: with which library (None: the first found), on which machine (None: here)."""

    mpi: str | None = None
    machine: Machine | None = None
    oversubscribe: bool = False
    hosts: HostList = ()

    def prepare(self, study: Study, seconds: float | None = None) -> Session | None:
        """`study` planned for `seconds` (None: unlimited); None where they are too few to start each program once."""
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
    """The campaigns that rules can be made from.

    killed     how many cells have no result since their launches were killed
    unrefined  whether the time was spent before all sizes between those at which the choice changes were measured
    """

    campaigns: list[Path]
    killed: int
    unrefined: bool = False


@dataclass(frozen=True)
class Made:
    """Rules, the files that hold them, and the campaigns that they were made from, merged into one."""

    table: SelectionTable
    files: TunedFiles
    library: Mpi
    campaign: Campaign


@dataclass(frozen=True)
class Round:
    """One confirmation of a table.

    remaining  the table without the rules that lost: the same table where none did
    files      of `remaining`; None where no rule lost
    killed     how many cells have no result since their launches were killed
    """

    table: SelectionTable
    library: Mpi
    measured: Campaign
    confirmed: list[Confirmed]
    remaining: SelectionTable
    files: TunedFiles | None
    killed: int


@dataclass(frozen=True)
class ConfirmRequest:
    """How rules are confirmed.

    launches   None: as many as the campaign had, `LAUNCHES` at least
    mpi        None: the library that was measured
    machine    None: the machine, and its hosts, on which the rules were measured
    placement  of ranks; None: as measured
    """

    launches: int | None = None
    mpi: str | None = None
    machine: Machine | None = None
    placement: str | None = None
    budget: TimeBudget = field(default_factory=TimeBudget)


def deciding_study(what: list[str], options: Mapping[str, object], *, simulated: bool) -> Study:
    """The study of `what` with `options`: a race, unless it names `launches` or `regret`. Simulations do not vary."""
    named = compose(what, options)
    if simulated or named.model_fields_set & {"launches", "regret"}:
        return named
    return compose(what, {**options, "regret": TUNING_REGRET})


def prepare_deciding(study: Study, target: Target, budget: TimeBudget) -> Session:
    """The campaign that rules are chosen from, planned; UserError where its share of the time is too short."""
    session = target.prepare(study, budget.share(_DECIDING_SHARE))
    if session is None:
        raise _too_short(study, target, budget, _DECIDING_SHARE)
    return session


def measure_boundaries(
    study: Study, target: Target, output: Path, measure: MeasureSession, budget: TimeBudget
) -> MeasuredChoices:
    """Measure `study`, then sizes between those at which the choice changes, into folders below `output`."""
    campaigns = [output / DECIDING]
    killed = measure(prepare_deciding(study, target, budget), campaigns[0]).killed
    for number in range(1, _MAX_HALVINGS + 1):
        measured = load_together(campaigns)
        between = refining_study(table_of(measured, campaigns).gaps, measured)
        if between is None:
            break
        session = target.prepare(between, budget.share(_BETWEEN_SHARE))
        if session is None:
            return MeasuredChoices(campaigns, killed, unrefined=True)
        campaigns.append(output / f"{DECIDING}-between-{number}")
        killed += measure(session, campaigns[-1]).killed
    return MeasuredChoices(campaigns, killed)


def make_rules(campaigns: Sequence[Path], output: Path, mpi: str | None, beyond: PredictionReach | None = None) -> Made:
    """The rules of `campaigns` and the files for `output`, not yet written; `beyond` are ranks to predict rules for."""
    campaign = load_together(campaigns)
    table = table_of(campaign, campaigns)
    library = installed(campaign, mpi)
    if beyond:
        limits = Limits(_CALL_SECONDS, available_memory())
        table = replace(table, predicted=predicted_rules(campaign, beyond, library, limits))
    return Made(table, _files(table, library, output), library, campaign)


def prepare_confirmation(table: SelectionTable, made_from: Campaign, folder: Path, request: ConfirmRequest) -> Session:
    """The campaign that confirms `table` in `folder`, planned; UserError where the time left is too short."""
    check_made_from(table, made_from)
    study = confirmation_study(table, made_from, folder, request.launches, request.placement)
    described = made_from.header.machine
    machine = request.machine or described.cluster
    hosts = described.hosts if machine and request.machine is None else ()
    target = Target(str(installed(made_from, request.mpi).mpirun), machine, True, hosts)
    session = target.prepare(study, request.budget.share(_ROUND_SHARE))
    if session is None:
        raise _too_short(study, target, request.budget, _ROUND_SHARE)
    return session


def confirm_rules(
    table: SelectionTable, made_from: Campaign, folder: Path, request: ConfirmRequest, measure: MeasureSession
) -> Iterator[Round]:
    """Confirm the rules in `folder`, up to MAX_ROUNDS times; each round but the last drops the rules that lost.

    A round must be written into `folder` before the next is asked for: its launches use the files that are there.
    """
    check_made_from(table, made_from)
    library = installed(made_from, request.mpi)
    for _ in range(MAX_ROUNDS):
        session = prepare_confirmation(table, made_from, folder, request)
        placed = "" if request.placement is None else f"-by-{request.placement.replace(':', '-')}"
        into = folder / f"confirmation-of-{len(table.rules)}{placed}"  # each round has fewer rules than the one before
        outcome = measure(session, into, cells_to_prove(table, made_from))
        measured = load(into)
        confirmed = confirm(table, made_from, measured)
        lost = losing(confirmed)
        remaining = without(table, lost) if lost else table
        files = _files(remaining, library, folder) if lost else None
        yield Round(table, library, measured, confirmed, remaining, files, outcome.killed)
        if not lost or not remaining.rules:
            return
        table = remaining


def _too_short(study: Study, target: Target, budget: TimeBudget, part: float) -> UserError:
    session = target.prepare(study)
    assert session, "without a limit every study is planned"
    starting = session.plan.starting_seconds
    return UserError(
        f"{budget.share(part) or 0:.0f} s of the budget are for {study.title or 'the first campaign'}, and starting "
        f"its programs once takes about {ceil(starting)} s",
        f"give more (--budget {ceil(2 * starting / part)}s), or the same command again: it resumes",
    )


def _files(table: SelectionTable, library: Mpi, folder: Path) -> TunedFiles:
    return tuned_files(table, library, LIBRARIES[library.kind].catalogue(library), folder)
