"""What is known of a recorded field besides its name, type and default: it stands with the type, as `Annotated`.

From these declarations come the checks of what is read, the columns of frames and of the cells' table, what is copied
from the raw record, and the reference pages that `make tables` writes.
docs/how-to/add-a-recorded-field.md shows the steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, Required, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Summary:
    """The column of the cells' table that summarizes a field over the launches that succeeded.

    over        how: `most` is whether it holds for more than half of the launches
    documented  the column's line in the page of columns, Markdown
    """

    over: Literal["mean", "median", "sum", "most"]
    documented: str


@dataclass(frozen=True)
class Recorded:
    """One field of a line that is recorded.

    documented  its line in the page of fields, Markdown, with the unit where the name has none
    copied      whether it is, unchanged, the key of this name that the measuring program writes in `measured`
    """

    documented: str
    summary: Summary | None = None
    copied: bool = False


def recorded_fields(declared: type) -> Mapping[str, Recorded]:
    """The fields of a class that are declared as `Recorded`, in their order."""
    hints = get_type_hints(declared, include_extras=True)
    return {name: each for name, hint in hints.items() for each in _metadata(hint) if isinstance(each, Recorded)}


def _metadata(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) in (NotRequired, Required):
        return _metadata(get_args(hint)[0])
    return hint.__metadata__ if get_origin(hint) is Annotated else ()
