"""Several MPI libraries side by side: each further one is a variant, called by its name and version."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator

from timpani.libraries.find import choose_mpi


def library_variants(wanted: Iterable[str]) -> Iterator[str]:
    """A variant's text for each library, which `wanted` names as `--mpi` does; UserError for one that is missing."""
    count: Counter[str] = Counter()
    for each in wanted:
        mpi = choose_mpi(each)
        name = f"{mpi.kind}-{mpi.version}"
        count[name] += 1
        ending = f"+{count[name]}" if count[name] > 1 else ""
        yield f"{name}{ending}: --mpi {shlex.quote(str(mpi.mpirun))}"
