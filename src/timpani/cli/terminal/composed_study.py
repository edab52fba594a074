"""The study of what was typed, with all names in its file checked, and the folder for its campaign."""

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from timpani.study.study import Study


def composed_study(what: list[str], options: Mapping[str, Any]) -> "Study":
    """The study that `what` names; UserError also where its file asks for a figure that does not exist."""
    from timpani.study.compose import compose

    return with_known_figures(what, compose(what, options))


def with_known_figures(what: Iterable[str], study: "Study") -> "Study":
    """The study, of `what`; UserError where a file of the user's asks for a figure that does not exist."""
    file = next((name for name in what if name.endswith(".toml")), None)
    if file and study.figures:
        # Charts take longer to load than most commands take, and the shipped studies are tested.
        from timpani.report.page.figure_files import check_figure_names

        check_figure_names(study.figures, file)
    return study


def folder_of_today(what: list[str]) -> Path:
    """A folder here, named after the study, or the operations, and the day: `bcast-reduce-2026-03-31`."""
    from timpani.study.compose import operation_names

    names = [Path(name).name.removesuffix(".toml") for name in operation_names(what)]
    return Path("-".join([*names, f"{date.today():%Y-%m-%d}"]))
