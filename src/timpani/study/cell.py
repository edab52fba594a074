"""The unit of measurement: one operation by one algorithm at one size, rank count, placement, cache mode and arrival
pattern; each of these as studies write it."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from timpani.errors import UserError
from timpani.study.sizes import VALUE, parse_sizes

TOGETHER = "together"
"""The pattern of ranks that enter at the same time."""

PATTERNS = ("together", "one_late:D", "sorted:D", "random:D")
"""`one_late`: the last rank enters D after the others. `sorted`: ranks enter at equal intervals, the last rank D after
rank 0. `random`: each rank is late by a time drawn anew for each call, uniform from 0 to D."""

_MAX_DELAY_NS = 10_000_000_000
_MAX_CALLS = 1000.0
_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_DELAY = re.compile(r"(one_late|sorted|random):(\d{1,9}(?:\.\d{1,9})?)(ns|us|ms|s|x)", re.ASCII)


@dataclass(frozen=True)
class ArrivalPattern:
    """A pattern with a delay.

    delay     of the latest rank: whole nanoseconds, or a multiple of the time of the library's default call
    in_calls  which of the two
    """

    name: Literal["one_late", "sorted", "random"]
    delay: float
    in_calls: bool

    @classmethod
    def parse(cls, text: str) -> "ArrivalPattern | None":
        """Read `one_late:50us` or `sorted:2x`; None of `together`; UserError if it is no pattern."""
        if text == TOGETHER:
            return None
        if match := _DELAY.fullmatch(text):
            in_calls = match[3] == "x"
            delay = float(match[2]) if in_calls else round(float(match[2]) * _NS[match[3]])
            if 0 < delay <= (_MAX_CALLS if in_calls else _MAX_DELAY_NS):
                return cls(match[1], delay, in_calls)  # type: ignore[arg-type]
        raise UserError(
            f"{text!r} is not an arrival pattern",
            f"write {', '.join(PATTERNS)}; D is a time such as 50us, up to 10s, or 2x the call's own time",
        )

    def __str__(self) -> str:
        if self.in_calls:
            return f"{self.name}:{self.delay:g}x"
        unit = max((unit for unit in _NS if self.delay % _NS[unit] == 0), key=_NS.__getitem__)
        return f"{self.name}:{int(self.delay) // _NS[unit]}{unit}"


def check_arrival(text: str) -> str:
    """The pattern as it is recorded, so that one pattern has one text; UserError for other text."""
    text = text.strip()
    found = ArrivalPattern.parse(text)
    return str(found) if found else text


UNPLACED = "unknown"
"""The placement of imported times, which name none."""

PLACEMENTS = ("core", "socket", "node", "ppr:N", "category:C:N", "category:C:N:SEED")
"""`core` fills a node's cores in their order, then the next node's. `socket` deals ranks out over the sockets of a
node, then of the next. `node` deals them out over the nodes. `ppr:N` puts N on each node, by the order of its cores.

`category:C:N` takes nodes for N ranks on each, equally many of each group, in the order of host files of category C.
Category 1: group after group, and ranks fill a node before the next. Category 2: the same nodes, and ranks are dealt
out over them. Category 3: a node of each group alternately, and ranks are dealt out. `category:C:N:SEED` shuffles the
groups by this seed first."""


@dataclass(frozen=True, order=True)
class RankLayout:
    """How ranks lie over nodes: on how many, and at most `per_node` on one."""

    nodes: int
    per_node: int


_PER_NODE = re.compile(r"ppr:([1-9]\d{0,5})", re.ASCII)
_CATEGORY = re.compile(r"category:([123]):([1-9]\d{0,5})(?::([1-9]\d{0,5}))?", re.ASCII)


def check_placement(text: str) -> str:
    """The placement itself; UserError for anything else."""
    if text not in PLACEMENTS[:3] and not _PER_NODE.fullmatch(text) and not _CATEGORY.fullmatch(text):
        raise UserError(
            f"{text!r} is not a placement", f"write {', '.join(PLACEMENTS)} (N ranks on each node, C from 1 to 3)"
        )
    return text


def category(placement: str) -> tuple[int, int] | None:
    """C and N of `category:C:N` and `category:C:N:SEED`; None of any other placement."""
    match = _CATEGORY.fullmatch(placement)
    return (int(match[1]), int(match[2])) if match else None


def shuffle_seed(placement: str) -> int | None:
    """SEED of `category:C:N:SEED`; None where the groups are in the machine's order."""
    match = _CATEGORY.fullmatch(placement)
    return int(match[3]) if match and match[3] else None


def ranks_per_node(placement: str) -> int | None:
    """N of `ppr:N` and `category:C:N`; None where the nodes' slots decide."""
    if (found := category(placement)) is not None:
        return found[1]
    match = _PER_NODE.fullmatch(placement)
    return int(match[1]) if match else None


DEFAULT = "default"

VARIANT_SIGN = "@"
"""Between an algorithm's name and its variant's in labels: `ring@no-vader`."""

OWN = "timpani"
"""The provider of Timpani's algorithms; all others are MPI libraries."""

COMPOSED = "composed"
"""The provider of collectives composed of the library's, on communicators of nodes and their leaders."""

RULES = "rules"
"""Stands for the library's call while preloaded rules replace it by Timpani's algorithms."""

TUNED = "tuned"
"""Of a library, its own call in a launch that reads tuning files."""

_UNDER_FILES = f"{TUNED}-"

_ALGORITHM = re.compile(r"(?:(?P<provider>[a-z0-9]+)/)?(?P<name>[A-Za-z0-9_-]+)(?::(?P<parameters>.*))?")
_PARAMETER = re.compile(r"(?P<name>[a-z_]+)=(?P<value>-?\d{1,18})", re.ASCII)


@dataclass(frozen=True, order=True)
class Algorithm:
    """A provider's algorithm with its parameters, or `default`: what the library does with no algorithm forced.

    `provider` is empty only in text that a user typed and that no catalogue has resolved yet. `variant` names how the
    MPI program is started (`study/variant.py`): settings compete as algorithms do.
    """

    provider: str
    name: str
    parameters: tuple[tuple[str, int], ...] = ()
    variant: str = DEFAULT

    @classmethod
    def parse(cls, text: str) -> "Algorithm":
        """Read `[provider/]name[:parameter=integer,…]`, for example `openmpi/chain:fanout=4,segment_bytes=8192`."""
        match = _ALGORITHM.fullmatch(text.strip())
        if not match:
            raise UserError(f"{text!r} is not an algorithm", "write [provider/]name[:parameter=integer,…]")
        return cls(match["provider"] or "", match["name"], parse_parameters(match["parameters"] or ""))

    @property
    def is_default(self) -> bool:
        """Whether it is what others are compared with: no algorithm forced, and started as the variant `default`."""
        return self.name == DEFAULT and self.variant == DEFAULT

    @property
    def parameter_text(self) -> str:
        """The parameters as the `parameters` column holds them: `fanout=4,segment_bytes=8192`, or nothing."""
        return ",".join(f"{name}={value}" for name, value in self.parameters)

    @property
    def label(self) -> str:
        """The name in tables and figures: a library's without its provider, others with it; `@` and the variant behind
        it but for `default`."""
        name = str(self) if self.provider in (OWN, COMPOSED) else self.plain
        return name if self.variant == DEFAULT else f"{name}{VARIANT_SIGN}{self.variant}"

    @property
    def plain(self) -> str:
        """The name and parameters without the provider."""
        return f"{self.name}:{self.parameter_text}" if self.parameters else self.name

    def __str__(self) -> str:
        return f"{self.provider}/{self.plain}" if self.provider else self.plain


def under_files(forced: Algorithm) -> Algorithm:
    """What stands for an algorithm that is forced in a launch that reads tuning files: `mpich/tuned-binomial`."""
    return replace(forced, name=_UNDER_FILES + forced.name)


def is_under_files(name: str) -> bool:
    """Whether an algorithm's name stands for what a launch with tuning files, or with Timpani's rules, does."""
    return name in (RULES, TUNED) or name.startswith(_UNDER_FILES)


def parse_parameters(text: str) -> tuple[tuple[str, int], ...]:
    """Read `name=integer,…` into pairs sorted by name."""
    pairs: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _PARAMETER.fullmatch(part)
        if not match or match["name"] in pairs:
            raise UserError(f"{part!r} in {text!r} is not a parameter", "write each once, as name=integer")
        pairs[match["name"]] = int(match["value"])
    return tuple(sorted(pairs.items()))


@dataclass(frozen=True, order=True)
class Cell:
    """One point of a study.

    message_bytes is counted as OSU's benchmarks print it (`size_meaning` of its operation). It is a block for scatter,
    gather, allgather, their v-forms (equal blocks, as OSU has them) and the all-to-alls, and the vector for broadcast,
    reductions and scans. A barrier has 0; of messages it is one message, of a transpose the whole matrix.
    """

    collective: str
    algorithm: Algorithm
    ranks: int
    placement: str
    message_bytes: int
    mode: str
    arrival: str = TOGETHER


@dataclass(frozen=True)
class Skipped:
    """Something that cannot be measured.

    subject   what, in words
    reason    why
    stand_in  the algorithm that is measured in its place; empty where nothing is
    """

    subject: str
    reason: str
    stand_in: str = ""

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason}"

    @property
    def note(self) -> str:
        """The line of a dry run."""
        return f"{self.subject}: {self.stand_in} stands in for it" if self.stand_in else f"left out: {self}"


_SERIES = re.compile(r"(?P<name>\s*[a-z_]+)=(?P<values>[^,=]*:[^,=]*)", re.ASCII)
_MAX_ALGORITHMS = 1000  # algorithms of one text: more was hardly meant


def each_of(text: str) -> Iterator[str]:
    """The algorithms that `text` stands for, each with one value of each parameter; itself where it has no series.

    Series are written as sizes are: FIRST:LAST doubles, FIRST:LAST*K multiplies, FIRST:LAST+STEP adds.
    """
    name, _, parameters = text.partition(":")
    parts = parameters.split(",")
    if not any(map(_SERIES.fullmatch, parts)):
        yield text
        return
    values = [
        [f"{series['name']}={value}" for value in parse_sizes(series["values"], VALUE)]
        if (series := _SERIES.fullmatch(part))
        else [part]
        for part in parts
    ]
    combinations = list(product(*values))
    if len(combinations) > _MAX_ALGORITHMS:
        raise UserError(
            f"{text!r} is {len(combinations)} algorithms", f"choose {_MAX_ALGORITHMS} at most, by larger steps"
        )
    yield from (f"{name}:{','.join(each)}" for each in combinations)


def split_algorithms(given: str | Collection[str]) -> tuple[str, ...]:
    """Split at commas, except before `name=value`, which continues the parameters of the algorithm before it.

    UserError where Python code passed neither a text nor a list of texts, or where no name is left.
    """
    parts: list[str] = []
    try:
        text = given if isinstance(given, str) else ",".join(given)
    except TypeError:
        raise UserError(f"algorithms={given!r} is no list of names", 'write for example ["default", "ring"]') from None
    for part in filter(None, (part.strip() for part in text.split(","))):
        is_parameter = "=" in part.partition(":")[0]  # of an algorithm with parameters the colon comes first
        if is_parameter and parts:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    if not parts:
        raise UserError("no algorithm is named", "write 'all', or a list such as default,ring")
    return tuple(parts)
