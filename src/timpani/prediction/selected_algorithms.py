"""Which algorithms are to be predicted: ours by name, and a library's that follow schedules of ours."""

from collections.abc import Sequence
from typing import NamedTuple

from timpani.errors import UserError, unknown
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.study.cell import OWN, Algorithm
from timpani.study.compose import split_algorithms
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import show_sizes

_ALL, _ALL_OF_OURS = "all", "timpani/all"


class Schedule(NamedTuple):
    """An algorithm of ours with its parameters."""

    algorithm: Algorithm
    info: AlgorithmInfo


class SelectedAlgorithm(NamedTuple):
    """An algorithm of ours, of a collective; or one of a library that follows its schedule.

    schedules  one; of a library's algorithm each that it may follow, as its messages don't tell them apart
    library    the library's
    off        the sizes at which it follows one, and by how much its own code is off from that, in logarithms
    counted_on, oversubscribed   as of Known
    """

    collective: str
    schedules: tuple[Schedule, ...]
    library: Algorithm | None = None
    off: tuple[tuple[int, float], ...] = ()
    counted_on: tuple[int, ...] = ()
    oversubscribed: bool = False

    @property
    def algorithm(self) -> Algorithm:
        """As users know it."""
        return self.library or self.schedules[0].algorithm

    @property
    def sends_as(self) -> str | None:
        """The schedules of a library's algorithm, in words."""
        return " or ".join(str(each.algorithm) for each in self.schedules) if self.library else None

    def on(self, ranks: int) -> list[Algorithm]:
        """The schedules that apply on so many ranks: where a library's algorithm runs there, it follows one of them."""
        return [each.algorithm for each in self.schedules if each.info.restrictions.admit(ranks)]

    def __str__(self) -> str:
        return f"{self.collective} {self.library or self.algorithm.plain}"


class NotPredicted(NamedTuple):
    """Why a library's algorithm, or none of a collective's, can be predicted: at these sizes, or at all."""

    collective: str
    algorithm: Algorithm | None
    why: str
    sizes: tuple[int, ...] = ()

    def __str__(self) -> str:
        at = f" at {show_sizes(self.sizes)}" if self.sizes else ""
        return f"{self.collective} {self.algorithm or 'of the library'}{at}: {self.why}"


def named_algorithms(collectives: Sequence[str], names: str, own: Catalogue) -> list[SelectedAlgorithm]:
    """The algorithms of ours that `names` lists, of each collective that has them; UserError for one that none has."""
    for collective in collectives:
        if collective not in own.algorithms:
            raise unknown("collective with algorithms of ours", collective, own.algorithms, "timpani list algorithms")
    if names in (_ALL, _ALL_OF_OURS):
        return [
            SelectedAlgorithm(info.collective, (Schedule(Algorithm(own.provider, info.name), info),))
            for info in own
            if info.collective in collectives
        ]
    found: dict[SelectedAlgorithm, None] = {}  # each once, however often and by whatever names it is typed
    for typed in map(Algorithm.parse, split_algorithms(names)):
        if _is_library_s(typed):
            continue
        having = [
            collective
            for collective in collectives
            if any(typed.name in (info.name, *info.aliases) for info in own.algorithms[collective])
        ]
        for collective in having or collectives:  # where none has it, the catalogue says so
            resolved = own.resolve(collective, typed)
            info = own.info(collective, resolved)
            assert info is not None  # only a library's default has none
            found[SelectedAlgorithm(collective, (Schedule(resolved, info),))] = None
    return [*found]


def lacking(collectives: Sequence[str], names: str, own: Catalogue) -> list[NotPredicted]:
    """The algorithms of ours that `names` lists and some of the collectives don't have, of which others do."""
    typed = [] if names in (_ALL, _ALL_OF_OURS) else map(Algorithm.parse, split_algorithms(names))
    return [
        NotPredicted(collective, each, "no such algorithm of this collective")
        for each in typed
        if not _is_library_s(each)
        for collective in collectives
        if not any(each.name in (info.name, *info.aliases) for info in own.algorithms[collective])
    ]


def asks_for_library(names: str) -> bool:
    """Whether `names` lists algorithms of a library."""
    return names == _ALL or any(map(_is_library_s, map(Algorithm.parse, split_algorithms(names))))


def of_library(
    names: str, library: Sequence[SelectedAlgorithm], others: Sequence[NotPredicted]
) -> list[SelectedAlgorithm]:
    """Those of the `library` that `names` lists; UserError for one that is not among them, with why, as `others`
    tell."""
    if names == _ALL:
        return [*library]
    found: dict[SelectedAlgorithm, None] = {}
    for typed in filter(_is_library_s, map(Algorithm.parse, split_algorithms(names))):
        every = Algorithm(typed.provider, _ALL)
        wanted = [each for each in library if typed in (each.algorithm, every)]
        if not wanted:
            whys = [str(each) for each in others if each.algorithm in (typed, None)]
            if typed == every:
                whys = [str(each) for each in others]
            more = f", and {len(whys) - 1} more" if len(whys) > 1 else ""
            raise UserError(
                f"{typed} can't be predicted: {whys[0] if whys else 'its messages were not counted'}{more}",
                "ask for others, or count messages: the same `timpani run` with --prove",
            )
        found |= dict.fromkeys(wanted)
    return [*found]


def _is_library_s(typed: Algorithm) -> bool:
    return typed.provider not in ("", OWN)


def sizes_of(collective: str, sizes: Sequence[int]) -> Sequence[int]:
    """These, or 0 alone of a collective that has no size."""
    known = COLLECTIVES.get(collective)
    return sizes if known is None or known.sized else (0,)
