"""The HTML report; text, OSU and other tables."""

from collections.abc import Iterable

from timpani.study.study import Study


def runnable_study(what: Iterable[str], study: Study) -> Study:
    """The study of `what`; UserError where a file of the user's asks for a figure that does not exist."""
    file = next((name for name in what if name.endswith(".toml")), None)
    if file and study.figures:
        # Charts take longer to load than most commands take, and the shipped studies are tested.
        from timpani.report.figures.figure import check_figure_names

        check_figure_names(study.figures, file)
    return study
