"""Capabilities as slices: a folder that `git rm -r` takes out, and the rest works.

A slice is a folder of this package with a file `slice.py`. Nothing outside the folder imports it. The core asks for
what slices add by a `Hook`, which it defines where it uses it:

    SECTIONS: Hook[Callable[[Report], Iterable[PageSection]]] = Hook("REPORT_SECTIONS")
    ...
    for sections_of in SECTIONS.added(): ...

A slice answers by a variable of that name in its `slice.py`: a tuple of texts `module:name`, which are imported only
when a hook asks. So `slice.py` imports nothing, and reading all of them costs a start of `timpani` little:

    REPORT_SECTIONS = ("timpani.studies.comparison:study_section",)

`tests/test_slices.py` checks that each variable of each `slice.py` belongs to a hook and names what exists, and deletes
one slice after the other.
"""

from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar, cast

from timpani.errors import UserError

Added = TypeVar("Added")
"""The type of what slices add at one place."""


class Hook(Generic[Added]):
    """A place of the core to which slices add objects of one type."""

    def __init__(self, variable: str) -> None:
        self.variable = variable

    def added(self) -> list[Added]:
        """What all slices add, imported; slices in the order of their folders' names."""
        return [cast(Added, _import(name)) for name in self.names()]

    def only(self, option: str) -> Added:
        """What the one slice adds that `option` of the command line needs; UserError where it was taken out."""
        found = self.added()
        if not found:
            raise UserError(f"{option} needs a part that this Timpani lacks", "install Timpani as it is released")
        return found[0]

    def names(self) -> list[str]:
        """What all slices add as texts `module:name`, without importing it."""
        return [name for slice_ in slices().values() for name in getattr(slice_, self.variable, ())]


@cache
def slices() -> dict[str, ModuleType]:
    """By folder its `slice.py`."""
    files = sorted(Path(__file__).parent.glob("*/slice.py"))
    return {file.parent.name: import_module(f"timpani.{file.parent.name}.slice") for file in files}


def _import(name: str) -> object:
    module, _, variable = name.partition(":")
    return attrgetter(variable)(import_module(module))
