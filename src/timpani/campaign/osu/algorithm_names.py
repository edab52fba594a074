"""Whether an algorithm's name that somebody gives an old log is one of a library's, as far as libraries here show."""

from collections.abc import Iterable

from timpani.errors import UserError, unknown
from timpani.libraries.find import find_mpis
from timpani.libraries.registry import LIBRARIES
from timpani.providers.composed import composed_catalogue
from timpani.providers.own import own_catalogue
from timpani.study.cell import COMPOSED, DEFAULT, OWN, Algorithm
from timpani.study.operations import OPERATIONS


def check_names(named: Iterable[tuple[str, Algorithm]]) -> list[str]:
    """Names that can't be checked, a sentence each: no library is here that would have them.

    named  collectives and algorithms; of other operations nothing is checked, they have one way only

    UserError for a name that none of the provider's libraries here has, or of no library where that isn't here.
    """
    unchecked = []
    for collective, algorithm in dict.fromkeys(named):
        if algorithm.name == DEFAULT or OPERATIONS[collective].kind != "collective":
            continue
        names = _names(collective, algorithm.provider)
        if not names:
            unchecked.append(f"no library here shows whether {collective} has an algorithm {algorithm.name!r}")
        elif algorithm.name not in names:
            raise _unknown(collective, algorithm.name, names)
    return unchecked


def _unknown(collective: str, name: str, names: set[str]) -> UserError:
    error = unknown(f"{collective} algorithm", name, names, "timpani list algorithms")
    return UserError(error.what, f"{error.next_step}; --any-name takes it as it is")


def _names(collective: str, provider: str) -> set[str]:
    """Canonical and other names of the collective's algorithms: the provider's, or of all libraries where it has none
    here."""
    mpis = find_mpis()
    if provider == COMPOSED:
        catalogues = [composed_catalogue()]
    elif provider == OWN:
        catalogues = [own_catalogue(mpi) for mpi in mpis[:1]]
    else:
        own = [mpi for mpi in mpis if mpi.kind == provider]
        catalogues = [LIBRARIES[mpi.kind].algorithms.catalogue(mpi) for mpi in own or mpis]
    known = [info for each in catalogues for info in each.algorithms.get(collective, ())]
    return {name for info in known for name in (info.name, *info.aliases)}
