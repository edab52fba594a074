"""Variants by name: further MPI libraries, and the groups of variants that a library offers."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator

from timpani.errors import UserError, unknown
from timpani.libraries.find import choose_mpi
from timpani.libraries.library import OfferedVariants
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi


def library_variants(wanted: Iterable[str]) -> Iterator[str]:
    """A variant's text for each library, which `wanted` names as `--mpi` does; UserError for one that is missing."""
    count: Counter[str] = Counter()
    for each in wanted:
        mpi = choose_mpi(each)
        name = f"{mpi.kind}-{mpi.version}"
        count[name] += 1
        ending = f"+{count[name]}" if count[name] > 1 else ""
        yield f"{name}{ending}: --mpi {shlex.quote(str(mpi.mpirun))}"


def group_variants(mpi: Mpi, group: str) -> OfferedVariants:
    """The variants of a group that `mpi` offers; UserError where the library offers none."""
    offered = LIBRARIES[mpi.kind].offered_variants(mpi)
    if not offered:
        raise UserError(f"{mpi.name} {mpi.version} offers no groups of variants", "name settings with --variant")
    if group not in offered:
        raise unknown("group of variants", group, offered, "timpani run --help")
    found = offered[group]
    if not found.variants:
        raise UserError(f"{mpi.name} {mpi.version} offers no {group}", "name settings with --variant")
    return found
