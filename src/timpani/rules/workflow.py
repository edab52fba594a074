"""From what to tune to confirmed rules: measure where the choice changes, make the rules, confirm them, drop losers.

Measuring takes long, so the caller passes a `MeasureSession`, which shows the progress. It ends the workflow by an
exception when the campaign was stopped; the same call resumes there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
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
from timpani.study.cell import Cell
from timpani.study.compose import compose
from timpani.study.defaults import TUNING_REGRET
from timpani.study.study import Study
from timpani.tuning.decide.selection_table import SelectionTable

MAX_ROUNDS = 3
"""How often rules are confirmed at most: each round but the last is followed by one without the rules that lost."""

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

    def measure(self, study: Study, folder: Path, measure: MeasureSession) -> Outcome:
        """Measure `study` here into `folder`."""
        return measure(Session.prepare(study, self.mpi, self.oversubscribe, self.machine), folder)


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


def deciding_study(what: list[str], options: Mapping[str, object], *, simulated: bool) -> Study:
    """The study of `what` with `options`: a race, unless it names `launches` or `regret`. Simulations do not vary."""
    named = compose(what, options)
    if simulated or named.model_fields_set & {"launches", "regret"}:
        return named
    return compose(what, {**options, "regret": TUNING_REGRET})


def measure_boundaries(study: Study, target: Target, output: Path, measure: MeasureSession) -> tuple[list[Path], int]:
    """Measure `study`, then sizes between those at which the choice changes.

    Returns the campaigns' folders below `output`, and how many cells lack results since their launches were killed.
    """
    campaigns = [output / "campaign"]
    killed = target.measure(study, campaigns[0], measure).killed
    for number in range(1, _MAX_HALVINGS + 1):
        measured = load_together(campaigns)
        between = refining_study(table_of(measured, campaigns).gaps, measured)
        if between is None:
            break
        campaigns.append(output / f"campaign-between-{number}")
        killed += target.measure(between, campaigns[-1], measure).killed
    return campaigns, killed


def make_rules(campaigns: Sequence[Path], output: Path, mpi: str | None, beyond: PredictionReach | None = None) -> Made:
    """The rules of `campaigns` and the files for `output`, not yet written; `beyond` are ranks to predict rules for."""
    campaign = load_together(campaigns)
    table = table_of(campaign, campaigns)
    library = installed(campaign, mpi)
    if beyond:
        limits = Limits(_CALL_SECONDS, available_memory())
        table = replace(table, predicted=predicted_rules(campaign, beyond, library, limits))
    return Made(table, _files(table, library, output), library, campaign)


def confirm_rules(
    table: SelectionTable,
    made_from: Campaign,
    folder: Path,
    launches: int | None,
    mpi: str | None,
    measure: MeasureSession,
) -> Iterator[Round]:
    """Confirm the rules in `folder`, up to MAX_ROUNDS times; each round but the last drops the rules that lost.

    A round must be written into `folder` before the next is asked for: its launches use the files that are there.
    """
    check_made_from(table, made_from)
    library = installed(made_from, mpi)
    machine = made_from.header.machine
    hosts = machine.hosts if machine.cluster else ()
    for _ in range(MAX_ROUNDS):
        study = confirmation_study(table, made_from, folder, launches)
        session = Session.prepare(study, str(library.mpirun), True, machine.cluster, hosts)
        into = folder / f"confirmation-of-{len(table.rules)}"  # each round has fewer rules than the one before
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


def _files(table: SelectionTable, library: Mpi, folder: Path) -> TunedFiles:
    return tuned_files(table, library, LIBRARIES[library.kind].catalogue(library), folder)
