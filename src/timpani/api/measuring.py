"""Measure from Python what `timpani run` measures."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from timpani.api.opened_campaign import OpenedCampaign
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.campaign.run.run import Observer
from timpani.campaign.run.session import Session
from timpani.errors import unknown
from timpani.machine.detect import resolve
from timpani.study.cell import Cell
from timpani.study.compose import compose
from timpani.study.keys import KEYS
from timpani.study.study import Study

Note = Callable[[str], object]


def measure_campaign(
    what: Collection[str],
    folder: Path,
    mpi: str | None,
    on: str | None,
    oversubscribe: bool,
    note: Note,
    options: Mapping[str, Any],
) -> OpenedCampaign:
    """See `timpani.measure`."""
    arguments = [*KEYS, "algorithms"]
    if strange := [name for name in options if name not in arguments]:
        raise unknown("argument", strange[0], arguments, "timpani help run")
    study = runnable_study(what, compose(list(what), options))
    session = Session.prepare(study, mpi, oversubscribe, resolve(on, mpi) if on else None)

    @contextmanager
    def observing(plan: CampaignPlan, done: Collection[tuple[Cell, int]]) -> Iterator[Observer]:
        yield _Notes(note)

    session.complete(folder, observing)
    if session.stopped is not None:
        raise KeyboardInterrupt
    return OpenedCampaign(folder)


class _Notes:
    """An observer that passes on what is worth knowing, and no progress."""

    def __init__(self, note: Note) -> None:
        self._note = note

    def started(self, launch: int, group: Group, cells: int) -> None:
        pass

    def measured(self, result: LaunchResult) -> None:
        pass

    def note(self, text: str) -> None:
        self._note(text)


def runnable_study(what: Iterable[str], study: Study) -> Study:
    """The study of `what`; UserError where a file of the user's asks for a figure that does not exist."""
    file = next((name for name in what if name.endswith(".toml")), None)
    if file and study.figures:
        # Charts take longer to load than most commands take, and the shipped studies are tested.
        from timpani.report.page.figure_files import check_figure_names

        check_figure_names(study.figures, file)
    return study
