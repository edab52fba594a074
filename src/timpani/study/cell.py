"""The unit of measurement: one operation by one algorithm at one size, rank count, placement, cache mode and arrival
pattern."""

import re
from dataclasses import dataclass, replace

from timpani.errors import UserError
from timpani.study.arrival import TOGETHER

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
