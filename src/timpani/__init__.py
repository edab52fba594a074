"""Timpani times MPI: which algorithm each collective should use here, how sure that is, and what it gains.

import timpani

mine = timpani.measure("allreduce", folder="mine", ranks=2, sizes="8:64K", launches=8)
mine.cells          # a polars frame: one row per cell
mine.verdict        # what `timpani verdict --format json` prints

mine = timpani.open("mine")
"""

from os import PathLike
from typing import TYPE_CHECKING, Any

from timpani.errors import UserError
from timpani.version import __version__ as __version__

if TYPE_CHECKING:  # so that `import timpani` stays quick
    from collections.abc import Callable
    from typing import Unpack

    from timpani.api import OpenedCampaign
    from timpani.study.keys import MeasureOptions
else:

    def __getattr__(name: str) -> Any:
        if name != "OpenedCampaign":
            raise AttributeError(f"module 'timpani' has no attribute {name!r}")
        from timpani.api import OpenedCampaign

        return OpenedCampaign


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__all__ = ["OpenedCampaign", "UserError", "measure", "open"]


def open(folder: str | PathLike[str]) -> "OpenedCampaign":
    """The campaign in `folder`, or in a file that `timpani bundle` wrote, as tables and figures.

    `timpani.UserError` when it is no campaign.
    """
    from pathlib import Path

    from timpani.api import OpenedCampaign

    return OpenedCampaign(Path(folder))


def measure(
    *what: str,
    folder: str | PathLike[str],
    mpi: str | None = None,
    on: str | None = None,
    oversubscribe: bool = False,
    note: "Callable[[str], object]" = print,
    **options: "Unpack[MeasureOptions]",
) -> "OpenedCampaign":
    """Measure what `timpani run` would, into `folder`; the same call continues a campaign that was interrupted.

    what     a study's name or file, or operations
    mpi, on  the library and the machine, as for --mpi and --on
    note     called with each note that `timpani run` would print
    options  the options of `timpani run`, each as a value or as its text:
             ranks, sizes (in bytes)       [2, 4] or "2:64", [8, 65536] or "1:1M"
             launches, warmup, repetitions a number
             budget, slot                  seconds, or "10m"
             regret; precision             0.02 or "2%"; 0.05
             algorithms                    of all operations: "default,ring"

    `timpani.UserError` where `timpani run` would print an error; KeyboardInterrupt when it is interrupted, after what
    was measured is recorded.
    """
    from pathlib import Path

    from timpani.api import measure_campaign

    return measure_campaign(what, Path(folder), mpi, on, oversubscribe, note, options)
