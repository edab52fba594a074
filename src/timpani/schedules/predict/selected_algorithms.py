"""Selects the algorithms to predict: Timpani's by name, and a library's that follow known schedules."""

from collections.abc import Sequence
from typing import NamedTuple

from timpani.errors import UserError, unknown
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.study.cell import OWN, Algorithm, split_algorithms
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import show_sizes

_ALL, _ALL_TIMPANI = "all", "timpani/all"


class Schedule(NamedTuple):
    """A Timpani algorithm with its parameters."""

    algorithm: Algorithm
    info: AlgorithmInfo


class SelectedAlgorithm(NamedTuple):
    """A Timpani algorithm of a collective, or a library's algorithm that follows its schedule.

    schedules  one for a Timpani algorithm; for a library's, all whose messages match
    library    the library's algorithm
    off        the sizes at which the library's algorithm matches, with ln(measured / predicted) of its code
    counted_on, oversubscribed   as in KnownSchedule
    """

    collective: str
    schedules: tuple[Schedule, ...]
    library: Algorithm | None = None
    off: tuple[tuple[int, float], ...] = ()
    counted_on: tuple[int, ...] = ()
    oversubscribed: bool = False

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm by the name that users know."""
        return self.library or self.schedules[0].algorithm

    @property
    def sends_as(self) -> str | None:
        """The schedules of a library's algorithm, for a table."""
        return " or ".join(str(each.algorithm) for each in self.schedules) if self.library else None

    def on(self, ranks: int) -> list[Algorithm]:
        """The schedules that admit this rank count."""
        return [each.algorithm for each in self.schedules if each.info.restrictions.admit(ranks)]

    def __str__(self) -> str:
        return f"{self.collective} {self.library or self.algorithm.plain}"


class NotPredicted(NamedTuple):
    """Why a library's algorithm (None: any algorithm of the library) can't be predicted, at these sizes or at all."""

    collective: str
    algorithm: Algorithm | None
    why: str
    sizes: tuple[int, ...] = ()

    def __str__(self) -> str:
        at = f" at {show_sizes(self.sizes)}" if self.sizes else ""
        return f"{self.collective} {self.algorithm or 'of the library'}{at}: {self.why}"


def select_timpani_algorithms(collectives: Sequence[str], names: str, own: Catalogue) -> list[SelectedAlgorithm]:
    """The Timpani algorithms that `names` lists, for each collective that has them; UserError for an unknown one."""
    for collective in collectives:
        if collective not in own.algorithms:
            raise unknown("collective with Timpani algorithms", collective, own.algorithms, "timpani list algorithms")
    if names in (_ALL, _ALL_TIMPANI):
        return [
            SelectedAlgorithm(info.collective, (Schedule(Algorithm(own.provider, info.name), info),))
            for info in own
            if info.collective in collectives
        ]
    found: dict[SelectedAlgorithm, None] = {}  # removes duplicates and aliases
    for typed in map(Algorithm.parse, split_algorithms(names)):
        if _is_library_algorithm(typed):
            continue
        having = [
            collective
            for collective in collectives
            if any(typed.name in (info.name, *info.aliases) for info in own.algorithms[collective])
        ]
        for collective in having or collectives:  # if no collective has it, the catalogue raises the error
            resolved = own.resolve(collective, typed)
            info = own.info(collective, resolved)
            assert info is not None  # only a library's default has none
            found[SelectedAlgorithm(collective, (Schedule(resolved, info),))] = None
    return [*found]


def missing_algorithms(collectives: Sequence[str], names: str, own: Catalogue) -> list[NotPredicted]:
    """Named Timpani algorithms that some of the collectives have and others don't; one entry for each that doesn't."""
    typed = [] if names in (_ALL, _ALL_TIMPANI) else map(Algorithm.parse, split_algorithms(names))
    return [
        NotPredicted(collective, each, "no such algorithm of this collective")
        for each in typed
        if not _is_library_algorithm(each)
        for collective in collectives
        if not any(each.name in (info.name, *info.aliases) for info in own.algorithms[collective])
    ]


def names_library_algorithms(names: str) -> bool:
    """Whether `names` lists algorithms of a library."""
    return names == _ALL or any(map(_is_library_algorithm, map(Algorithm.parse, split_algorithms(names))))


def select_library_algorithms(
    names: str, library: Sequence[SelectedAlgorithm], others: Sequence[NotPredicted]
) -> list[SelectedAlgorithm]:
    """The library algorithms that `names` lists; UserError for one that can't be predicted, with the reason from
    `others`."""
    if names == _ALL:
        return [*library]
    found: dict[SelectedAlgorithm, None] = {}
    for typed in filter(_is_library_algorithm, map(Algorithm.parse, split_algorithms(names))):
        every = Algorithm(typed.provider, _ALL)
        wanted = [each for each in library if typed in (each.algorithm, every)]
        if not wanted:
            whys = [str(each) for each in others if each.algorithm in (typed, None)]
            if typed == every:
                whys = [str(each) for each in others]
            more = f", and {len(whys) - 1} more" if len(whys) > 1 else ""
            raise UserError(
                f"{typed} can't be predicted: {whys[0] if whys else 'its messages were not counted'}{more}",
                "choose other algorithms, or count messages: the same `timpani run` with --prove",
            )
        found |= dict.fromkeys(wanted)
    return [*found]


def _is_library_algorithm(typed: Algorithm) -> bool:
    return typed.provider not in ("", OWN)


def sizes_of(collective: str, sizes: Sequence[int]) -> Sequence[int]:
    """These sizes, or only 0 for a collective without a size."""
    known = COLLECTIVES.get(collective)
    return sizes if known is None or known.sized else (0,)
