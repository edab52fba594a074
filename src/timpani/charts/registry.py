"""The figures of the report: one for each file of this room that has a `FIGURE`."""

import pkgutil
from importlib import import_module

from timpani import charts
from timpani.charts.marks.figure import Figure


def figures() -> list[Figure]:
    """All figures, in the order of their files' names."""
    modules = (import_module(f"{charts.__name__}.{file.name}") for file in pkgutil.iter_modules(charts.__path__))
    return [module.FIGURE for module in modules if hasattr(module, "FIGURE")]
