"""The figures of the report: those that the files of this room define."""

import pkgutil
from importlib import import_module

from timpani import charts
from timpani.charts.marks.figure import Figure


def figures() -> list[Figure]:
    """All figures, in the order of their files' names."""
    modules = (import_module(f"{charts.__name__}.{file.name}") for file in pkgutil.iter_modules(charts.__path__))
    return [figure for module in modules for figure in vars(module).values() if isinstance(figure, Figure)]
