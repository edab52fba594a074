"""From a study to a measured campaign: choose the library, plan, build, measure, prove."""

import os
import shlex
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, Self

from timpani.campaign.folder.fields import JobFields
from timpani.campaign.folder.header import Header, planned_operations
from timpani.campaign.folder.header_parts import RecordedMpi, RecordedVariant
from timpani.campaign.folder.store import Store
from timpani.campaign.plan.from_study import Resources, check_cores, plan
from timpani.campaign.plan.plan import CampaignPlan, plan_notes
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.campaign.run.prove import Matrices, Prover, ShownCells, read_matrices
from timpani.campaign.run.run import MIN_TIMEOUT, Observer, Observing, Outcome, Runner
from timpani.campaign.run.start import Programs, Starter
from timpani.errors import UserError
from timpani.libraries.available import AvailableAlgorithms
from timpani.libraries.find import choose_mpi
from timpani.libraries.library import HostList, OutsideSetting
from timpani.libraries.outside_settings import described, settings_of_libraries
from timpani.libraries.registry import LIBRARIES, library_title, tuned_texts
from timpani.machine.batch.batch_systems import current_job
from timpani.machine.describe import describe_cluster, describe_machine
from timpani.machine.detect import load_modules, resolve
from timpani.machine.nodes.host_list import read_hosts
from timpani.machine.nodes.model import Machine
from timpani.native.build import build
from timpani.native_sources import further_texts
from timpani.slices import Hook
from timpani.study.cell import OWN, Cell
from timpani.study.operations import OPERATIONS
from timpani.study.study import Study
from timpani.study.variant import Variant


class FurtherVariants(Protocol):
    """Variants that go by the name of a group or of a further library."""

    @property
    def texts(self) -> list[str]:
        """Each variant as `--variant` takes it."""

    def unusable(self, plan: CampaignPlan, note: Callable[[str], object]) -> list[str]:
        """The names of those that can't compete in `plan`; `note` is called with each reason. UserError if none can."""


class Variants(Protocol):
    """What prepares, checks and finds variants."""

    def prepare(
        self, study: Study, available: AvailableAlgorithms
    ) -> list[tuple[PreparedVariant, AvailableAlgorithms]]:
        """Each variant of `study`, the reference first, and the algorithms of its library."""

    def environment(self, name: str, variant: Variant) -> tuple[dict[str, str], frozenset[str]]:
        """What a variant adds to the environment, and the names of variables that it removes."""

    def check(self, plan: CampaignPlan, programs: Programs, components: bool = True) -> dict[str, RecordedVariant]:
        """What each variant's start showed."""

    def find_named(
        self, groups: Sequence[str], library: str | None, further: Sequence[str], note: Callable[[str], object]
    ) -> FurtherVariants:
        """The variants of groups of `library`, and of `further` libraries."""


_VARIANTS: Hook[Variants] = Hook("VARIANTS")


def variants() -> Variants:
    """What prepares and checks variants; UserError in an installation without."""
    for found in _VARIANTS.added():
        return found
    raise UserError("this installation compares no settings of libraries", "leave out the variants")


def prepared_variants(
    study: Study, available: AvailableAlgorithms
) -> list[tuple[PreparedVariant, AvailableAlgorithms]]:
    """How everything of `study` is started, the reference first, and the algorithms of its library."""
    if not study.variants and not study.clean_environment:
        return [(PreparedVariant.plain(available.mpi), available)]
    return variants().prepare(study, available)


def checked_variants(plan: CampaignPlan, programs: Programs) -> dict[str, RecordedVariant]:
    """The record of a start of each variant; nothing is started where there is one plain variant, or a simulation."""
    if plan.machine.simulated or (len(plan.variants) == 1 and plan.variants[0].variant.is_plain):
        return {}
    return variants().check(plan, programs)


_BEGUN = datetime.now(UTC)
"""When this process began: all that it measures is one job."""


@dataclass(frozen=True)
class Place:
    """Where a study is measured, and with which libraries, as a user names them.

    machine    a machine's name or file; None: this computer
    libraries  the first, and others that are compared with it as variants
    hosts      a file that chooses nodes of the machine
    groups     of settings of the first library, each a variant
    """

    machine: str | None = None
    libraries: Sequence[str] = ()
    oversubscribe: bool = False
    hosts: Path | None = None
    groups: Sequence[str] = ()

    def prepare(
        self,
        study_of: Callable[[dict[str, Any]], Study],
        options: Mapping[str, Any],
        note: Callable[[str], object],
        starts: bool = True,
    ) -> "Session":
        """Plan the study of `options` here.

        starts  whether variants of groups are started once, to leave out those that can't compete
        """
        first, *others = self.libraries or [""]
        if self.hosts and not self.machine:
            raise UserError("--hosts chooses nodes of a machine, and no machine is named", "name one with --on")
        machine = resolve(self.machine, first or None) if self.machine else None
        hosts = read_hosts(self.hosts) if self.hosts else ()
        named = None
        if others or self.groups:
            library = first or (machine.library if machine else None)
            named = variants().find_named(self.groups, library, others, note)
            options = {**options, "variants": [*options.get("variants", ()), *named.texts]}
        study = study_of(dict(options))
        session = Session.prepare(study, first or None, self.oversubscribe, machine, hosts)
        unusable = named.unusable(session.plan, note) if named and starts else ()
        if not unusable:
            return session
        usable = {name: variant for name, variant in study.variants.items() if name not in unusable}
        study = study.model_copy(update={"variants": usable})
        return Session.prepare(study, first or None, self.oversubscribe, machine, hosts)


@dataclass
class Session:
    """A planned study. `stopped` holds the signal that asked for an end, once one did; `outside` what sets something
    of a library without Timpani, `checked` what a start of each variant showed."""

    plan: CampaignPlan
    outside: tuple[OutsideSetting, ...]
    stopped: int | None = None
    checked: Mapping[str, RecordedVariant] = field(default_factory=dict)

    @classmethod
    def prepare(
        cls,
        study: Study,
        mpi_wanted: str | None,
        oversubscribe: bool,
        machine: Machine | None = None,
        hosts: HostList = (),
    ) -> Self:
        """Plan `study` for the MPI library wanted, as `choose_mpi` reads it.

        `machine` is where it runs, on `hosts` or on all its nodes; None: on this computer.
        """
        if machine is None:
            mpi = choose_mpi(mpi_wanted)
            resources = Resources.here(mpi, study.placement)
        else:
            if machine.simulated:
                study = _simulated_study(study)
            os.environ.update(load_modules(machine.modules))
            mpi = choose_mpi(mpi_wanted or machine.library)
            own_launcher = machine.launcher in LIBRARIES or LIBRARIES[mpi.kind].launcher.simulates
            if own_launcher and machine.launcher != mpi.kind:
                own = library_title(machine.launcher, "")
                raise UserError(
                    f"{machine.name} starts ranks with {own}'s launcher, and {mpi} is another library",
                    f"give --mpi {machine.launcher}, or correct the machine file's mpi",
                )
            resources = Resources.on(machine, hosts, study.placement)
        if LIBRARIES[mpi.kind].launcher.simulates and not resources.machine.platform:
            step = "name a platform: `--on simgrid:two-nodes-of-24`, for example"
            raise UserError(f"{mpi.name} simulates, and can't measure {resources.machine.name}", step)
        if not oversubscribe:
            check_cores(study, resources.cores)  # before anything is compiled
        available = AvailableAlgorithms.ask(mpi)
        planned = plan(study, available, resources, prepared_variants(study, available))
        return cls(planned, settings_of_libraries(planned.libraries, os.environ, study.clean_environment))

    def open(self, folder: Path) -> Store:
        """Create or continue the campaign in `folder`."""
        mpi, hosts = self.plan.mpi, self.plan.hosts
        measures_own = any(each.cell.algorithm.provider == OWN for each in self.plan.cells)
        store = Store(
            folder,
            Header.new(
                study=self.plan.study.model_dump(mode="json"),
                machine=describe_cluster(self.plan.machine, hosts) if hosts else describe_machine(),
                mpi=RecordedMpi.from_mpi(mpi),
                command=shlex.join(["timpani", *sys.argv[1:]]).encode(errors="backslashreplace").decode(),
                left_out=list(map(str, self.plan.skipped)),
                settings=self.plan.settings,
                outside=self.outside,
                variants=recorded_variants(self.plan.variants, self.checked),
                planned=planned_operations(each.cell for each in self.plan.cells),
                rules=Path(rules).read_text(errors="backslashreplace") if (rules := self.plan.study.rules) else None,
                tuned=tuned_texts(Path(tuned), mpi) if (tuned := self.plan.study.tuned) else None,
                algorithms=further_texts() if measures_own else None,
            ),
        )
        if not self.plan.machine.simulated:
            with store.writing():
                store.enter_job(self._job(store.header.machine.name))
        return store

    def _job(self, machine: str) -> JobFields:
        """The batch job that this process is in; outside of batch systems, the process."""
        nodes = [each.name for each in self.plan.hosts] or [socket.gethostname()]
        found = current_job(os.environ) or {"system": "", "name": "", "id": _BEGUN.isoformat(timespec="milliseconds")}
        return {
            "job": found["id"],
            "machine": machine,
            "system": found["system"],
            "name": found["name"],
            "nodes": nodes,
            "switches": sorted({switch for node in nodes if (switch := self.plan.machine.switches.get(node))}),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def complete(
        self,
        folder: Path,
        observing: Observing,
        prove: Callable[[Cell], bool] | None = None,
        hang_after: float | None = None,
    ) -> Outcome:
        """Measure what is missing of the campaign in `folder`; then count the messages of cells that `prove` accepts.

        `hang_after` are the seconds of silence after which a launch counts as hung.
        """
        self.checked = checked_variants(self.plan, build)
        with self.open(folder) as store, observing(self.plan, store.done) as observer:
            outcome = self.measure(store, observer, hang_after)
            if prove is not None and outcome.ended == "complete":
                outcome = replace(self.prove(store, observer, hang_after, prove), killed=outcome.killed)
        return outcome

    def measure(self, store: Store, observer: Observer, hang_after: float | None) -> Outcome:
        """Measure what is missing in `store`; SIGINT, SIGTERM and SIGHUP end it cleanly."""
        for text in (*store.repaired, *plan_notes(self.plan), *described(self.outside)):
            observer.note(text)
        for mpi in self.plan.libraries:
            observer.note(f"{mpi}, programs from {build(mpi)}")
        with self._signals():
            return Runner(
                plan=self.plan,
                store=store,
                programs=build,
                observer=observer,
                stop=lambda: self.stopped is not None,
                hang_after=hang_after,
            ).run()

    def prove(
        self, store: Store, observer: Observer, hang_after: float | None, wanted: Callable[[Cell], bool]
    ) -> Outcome:
        """Count the messages of each cell `wanted`, where the library can; the same signals end it cleanly."""
        with self._signals():
            uncounted = Prover(self._starter(store, observer), hang_after or MIN_TIMEOUT).run(wanted)
        return Outcome("stopped" if uncounted else "complete", uncounted)

    def matrices(self, folder: Path, observing: Observing, shown: ShownCells) -> list[Matrices]:
        """Call the transposes `shown` of the campaign in `folder` once more, and read their matrices."""
        with self.open(folder) as store, observing(self.plan, store.done) as observer, self._signals():
            return read_matrices(self._starter(store, observer), MIN_TIMEOUT, shown)

    def _starter(self, store: Store, observer: Observer) -> Starter:
        return Starter(self.plan, store, build, lambda: self.stopped is not None, observer.note)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        def note(number: int, _frame: FrameType | None) -> None:
            self.stopped = number

        hangup = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)  # `nohup` ignores it
        before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM, *hangup)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def recorded_variants(
    variants: Sequence[PreparedVariant], checked: Mapping[str, RecordedVariant]
) -> dict[str, RecordedVariant] | None:
    """The variants as the header has them; None where there is one plain variant."""
    if len(variants) == 1 and variants[0].variant.is_plain:
        return None
    return {
        each.name: checked.get(each.name)
        or RecordedVariant(settings=str(each.variant), mpi=RecordedMpi.from_mpi(each.mpi))
        for each in variants
    }


def _simulated_study(study: Study) -> Study:
    """The study with one launch and one repetition, where none are given: simulated ones are all equal.

    Three of messages between two ranks, whose median leaves out the first: it waits for a partner that comes later.
    """
    paced = any(OPERATIONS[name].kind == "point-to-point" for name in study.collectives)
    fixed = {
        "launches": 1,
        "warmup": study.warmup or (1 if paced else 0),
        "repetitions": study.repetitions or (3 if paced else 1),
    }
    return study.model_copy(update=fixed)
