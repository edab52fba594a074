"""The algorithms that a provider offers for each operation, and their names as listed before on this computer.

To list an MPI library's algorithms takes seconds and a compiler.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, product

from timpani.errors import UserError, unknown
from timpani.native.cache import cache_folder, cached
from timpani.study.cell import COMPOSED, DEFAULT, OWN, Algorithm
from timpani.study.operations import COLLECTIVES, Composition
from timpani.study.sizes import LARGEST
from timpani.study.words import counted
from timpani.version import __version__

_CANONICAL = {
    DEFAULT: "gather_bcast",  # Open MPI's allgatherv has one of that name; with us it is what the library decides
    "basic_linear": "linear",
    "split_binary_tree": "split_binary",
    "binary_tree": "binary",
    "modified_bruck": "bruck",
    "brucks": "bruck",
    "scatter_recursive_doubling_allgather": "scatter_allgather",
    "scatter_ring_allgather": "scatter_allgather_ring",
    "reduce_scatter_gather": "rabenseifner",
    "reduce_scatter_allgather": "rabenseifner",
}


def canonical_names(names: Iterable[str]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """For each library's name of one collective's algorithms: the canonical name and the aliases.

    Two algorithms never get one name: where the canonical one is taken, the library's stays.
    """
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    taken = set(names := list(names))
    for name in names:
        canonical = _CANONICAL.get(name, name)
        if canonical in taken and canonical != name:
            canonical = name
        taken.add(canonical)
        found[name] = (canonical, (name,) if name not in (canonical, DEFAULT) else ())
    return found


Parameters = tuple[tuple[str, str], ...]
"""Parameters of the library and their values, by its own names: a launcher or an environment spells them."""


@dataclass(frozen=True)
class Parameter:
    """A setting of an algorithm: our name for it, the library's variable that holds it, and its limits.

    trial_values  known for Timpani's algorithms where the value decides which ranks exchange messages: what libraries
                  choose
    """

    name: str
    control: str
    default: int
    meaning: str
    minimum: int = 0
    maximum: int = LARGEST
    trial_values: tuple[int, ...] = ()


@dataclass(frozen=True)
class Restrictions:
    """Where an algorithm applies: which rank counts, and whether its operator must be commutative.

    topology       it depends on which ranks share a node, as launches always record
    shared_memory  ranks of a node read and write memory of one another
    """

    power_of_two: bool = False
    even: bool = False
    commutative: bool = False
    topology: bool = False
    shared_memory: bool = False
    min_ranks: int = 1
    max_ranks: int | None = None
    min_nodes: int = 1
    min_groups: int = 1

    def admit(self, ranks: int) -> bool:
        """Whether it runs on `ranks` ranks with the operators that we measure, which all commute."""
        odd = (self.power_of_two and ranks & (ranks - 1)) or (self.even and ranks % 2)
        return ranks >= self.min_ranks and (self.max_ranks is None or ranks <= self.max_ranks) and not odd

    def ranks_wanted(self) -> str:
        """On how many ranks it runs, in words; nothing where on any."""
        words = {
            "a power of two of ranks": self.power_of_two,
            "an even number of ranks": self.even and not self.power_of_two,
            f"{self.min_ranks} ranks or more": self.min_ranks > 1,
            f"{self.max_ranks} ranks or fewer": self.max_ranks is not None,
        }
        return " and ".join(word for word, holds in words.items() if holds)

    def refusal(self, nodes: int, groups: int) -> str:
        """Why it needs more nodes or groups than these, in words; nothing where they are enough."""
        few_nodes, few_groups = nodes < self.min_nodes, groups < self.min_groups
        if not few_nodes and not few_groups:
            return ""
        wanted = f"{self.min_nodes} nodes" if few_nodes else f"{self.min_groups} groups of nodes"
        here = counted(nodes, "node") if few_nodes else counted(groups, "group")
        return f"takes {wanted} or more, and the ranks are {'on' if few_nodes else 'in'} {here}"

    def __str__(self) -> str:
        words = {
            "power of two": self.power_of_two,
            "even": self.even,
            "commutative": self.commutative,
            "known nodes": self.topology,
            "shared memory": self.shared_memory,
            f"{self.min_ranks} ranks or more": self.min_ranks > 1,
            f"{self.max_ranks} ranks or fewer": self.max_ranks is not None,
            f"{self.min_nodes} nodes or more": self.min_nodes > 1,
            f"{self.min_groups} groups or more": self.min_groups > 1,
        }
        return ", ".join(word for word, holds in words.items() if holds)


@dataclass(frozen=True)
class AlgorithmInfo:
    """One algorithm of a library for one collective.

    name     the canonical one where there is one, so that libraries can be compared; else the library's name
    value    what the library's variable is set to: an id, or the library's name for it
    aliases  other names that a user may type: the library's if `name` differs
    source   who described it; cost is under Hockney's model; both are known for Timpani's algorithms
    at_start whether the library takes this choice at its start only, so that it needs a separate launch
    """

    collective: str
    name: str
    value: str
    parameters: tuple[Parameter, ...]
    aliases: tuple[str, ...] = ()
    restrictions: Restrictions = Restrictions()
    source: str = ""
    cost: str = ""
    at_start: bool = False

    def trials(self, most: int | None) -> Iterator[tuple[tuple[str, int], ...]]:
        """The parameters that decide which ranks exchange messages, with each combination of their trial values; values
        above `most` have no effect."""
        known = [parameter for parameter in self.parameters if parameter.trial_values]
        choices = (
            [value for value in parameter.trial_values if most is None or value <= most] or parameter.trial_values[:1]
            for parameter in known
        )
        for values in product(*choices):
            yield tuple(sorted((parameter.name, value) for parameter, value in zip(known, values, strict=True)))

    @property
    def library_name(self) -> str:
        """The library's name of it, where `name` is the canonical one."""
        return self.aliases[0] if self.aliases else self.name


@dataclass(frozen=True)
class Catalogue:
    """All that a library offers, per operation.

    A collective's `default` is not among the algorithms: nothing can be set about it. A point-to-point operation's is,
    with the ranks it goes between.

    provider   the word before the slash in an algorithm's name
    stand_ins  (collective, another library's algorithm) → the algorithm, as it is typed, that replaces it
    name       the library's, as people write it; Timpani's own catalogues have none
    """

    provider: str
    version: str
    algorithms: Mapping[str, tuple[AlgorithmInfo, ...]]
    stand_ins: Mapping[tuple[str, str], str] = field(default_factory=dict)
    name: str = ""

    @property
    def title(self) -> str:
        """Name and version, for people."""
        return " ".join((self.name or self.provider, self.version))

    def __iter__(self) -> Iterator[AlgorithmInfo]:
        """Every algorithm of every operation."""
        return chain.from_iterable(self.algorithms.values())

    def stand_in(self, collective: str, algorithm: Algorithm) -> Algorithm:
        """The algorithm measured for `algorithm`: itself, unless it is another library's and has a stand-in."""
        text = self.stand_ins.get((collective, str(algorithm)))
        return Algorithm.parse(text) if text else algorithm

    def info(self, collective: str, algorithm: Algorithm) -> AlgorithmInfo | None:
        """The catalogue's entry for `algorithm`; None for a collective's `default`."""
        known = self.algorithms.get(collective, ())
        for info in known:
            if algorithm.name in (info.name, *info.aliases):
                return info
        has_default = self.provider not in (OWN, COMPOSED)
        if algorithm.is_default and has_default:
            return None
        names = [name for info in known for name in (info.name, *info.aliases)]
        names = [DEFAULT, *names] if has_default else names
        kind = f"{collective} algorithm of {self.title}"
        raise unknown(kind, algorithm.name, names, "timpani list algorithms")

    def resolve(self, collective: str, algorithm: Algorithm) -> Algorithm:
        """`algorithm` as records name it: provider filled in, an alias replaced, its parameters known to exist."""
        if algorithm.provider not in ("", self.provider):
            raise UserError(
                f"'{algorithm}' is not an algorithm of the library in use, {self.title}",
                f"choose that library with --mpi {algorithm.provider}, or leave '{algorithm.provider}/' out",
            )
        info = self.info(collective, algorithm)
        parameters = {parameter.name: parameter for parameter in info.parameters} if info else {}
        what = f"{self.name or self.provider}'s {collective} {algorithm.name}"
        for name, value in algorithm.parameters:
            if not parameters:
                raise UserError(f"{what} has no parameters", "leave them out")
            if name not in parameters:
                raise unknown(f"parameter of {what}", name, parameters, "timpani list algorithms")
            least, most = parameters[name].minimum, parameters[name].maximum
            if not least <= value <= most:
                raise UserError(f"'{name}={value}' of {algorithm} is out of range", f"write {least} to {most}")
        return Algorithm(self.provider, info.name if info else DEFAULT, algorithm.parameters)

    def all_of(self, collective: str) -> tuple[Algorithm, ...]:
        """The default, then each other algorithm without parameters."""
        names = (DEFAULT, *(info.name for info in self.algorithms.get(collective, ())))
        return tuple(Algorithm(self.provider, name) for name in names)


_FOLDER = "names"
_FILE = "algorithms.json"

Names = dict[str, dict[str, list[str]]]
"""By provider and collective."""


def remember_names(catalogue: Catalogue) -> None:
    """Keep a provider's names for the shell's completion; a cache that can't be written stays as it is."""
    listed = {collective: sorted(info.name for info in infos) for collective, infos in catalogue.algorithms.items()}
    known = known_names()
    if known.get(catalogue.provider) == listed:
        return
    with suppress(OSError, UserError):
        folder = cache_folder() / _FOLDER
        folder.mkdir(exist_ok=True)
        unfinished = folder / f"{_FILE}.{os.getpid()}"
        unfinished.write_text(json.dumps({**known, catalogue.provider: listed}))
        unfinished.rename(folder / _FILE)


def known_names() -> Names:
    """The names that were listed before; empty before the first list, or where the file was changed."""
    try:
        folder = cached(_FOLDER)
        found = json.loads((folder / _FILE).read_bytes()) if folder else {}
    except (OSError, ValueError, RecursionError, UserError):
        return {}
    return found if _are_names(found) else {}


def _are_names(found: object) -> bool:
    return isinstance(found, dict) and all(
        isinstance(listed, dict)
        and all(isinstance(names, list) and all(isinstance(each, str) for each in names) for names in listed.values())
        for listed in found.values()
    )


_SETUP = "setup"
_YES = 1  # what the only parameter, a switch, is at most


def composed_catalogue() -> Catalogue:
    """Collectives composed of a library's, on communicators of nodes and leaders: rows of operations.def.

    These communicators alone can be timed too, as the operation `setup`. A default is not among them.
    """
    algorithms = {
        operation.name: tuple(_composed_info(operation.name, each) for each in operation.compositions)
        for operation in COLLECTIVES.values()
        if operation.compositions
    }
    algorithms[_SETUP] = _setups(algorithms)
    return Catalogue(COMPOSED, __version__, algorithms)


def _composed_info(collective: str, composition: Composition) -> AlgorithmInfo:
    return AlgorithmInfo(
        collective,
        composition.name,
        f"{COMPOSED}/{composition.name}",
        tuple(
            Parameter(each.name, "", each.default_value, each.meaning, each.minimum, _YES)
            for each in composition.parameters
        ),
        aliases=(composition.alias,),
        restrictions=Restrictions(
            commutative=_reduces(collective),
            min_nodes=composition.min_nodes,
            min_groups=composition.min_groups,
        ),
        source=composition.meaning,
    )


def _reduces(collective: str) -> bool:
    movement = COLLECTIVES[collective].movement
    return movement is not None and movement.result == "sum"


def _setups(algorithms: dict[str, tuple[AlgorithmInfo, ...]]) -> tuple[AlgorithmInfo, ...]:
    """The communicators of each shape alone; they are the same for every collective."""
    with_setup = {info.name: info for infos in algorithms.values() for info in infos if info.parameters}
    meaning = "its communicators, made and freed"
    return tuple(replace(info, collective=_SETUP, parameters=(), source=meaning) for info in with_setup.values())
