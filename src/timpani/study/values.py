"""What the value of a study key may be, as a type that checks it: text of the command line and of TOML is read."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from timpani.errors import UserError
from timpani.study.cell import check_arrival, check_placement
from timpani.study.point_weights import PointWeight
from timpani.study.sizes import LARGEST, LARGEST_SIZE, RANK_COUNT, parse_sizes
from timpani.study.variant import Variant, parse_variants, variants_of_table

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?")
_PER_CENT = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*(%?)\s*", re.ASCII)
_SECONDS = {"ms": 1e-3, None: 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Seconds of `90`, `250ms`, `90s`, `10m` or `2h`."""
    match = _DURATION.fullmatch(text.strip())
    if not match or float(match[1]) <= 0:
        raise UserError(f"{text!r} is not a duration", "write for example 90s, 10m or 2h")
    return float(match[1]) * _SECONDS[match[2]]


def parse_ranks(text: str) -> tuple[int, ...]:
    """Rank counts as sizes are written: `2,4,8`, `2:256` (doubling), `2:48+2`."""
    ranks = parse_sizes(text, RANK_COUNT)
    if ranks[0] < 1:
        raise UserError(f"{text!r} has a rank count below 1", "write for example 2,4,8 or 2:48+2")
    return ranks


def _sizes(value: Any) -> Any:
    return parse_sizes(value) if isinstance(value, str) else _listed(value)


def _ranks(value: Any) -> Any:
    return parse_ranks(value) if isinstance(value, str) else _listed(value)


def parse_share(value: Any) -> Any:
    """A share, or its text in per cent."""
    match = _PER_CENT.fullmatch(value) if isinstance(value, str) else None
    return float(match[1]) / (100 if match[2] else 1) if match else value


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


def _root(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value


def _seconds(value: Any) -> Any:
    return parse_duration(value) if isinstance(value, str) else value


def _collectives(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise UserError("collectives must be a table", 'write [collectives] and under it, for example, bcast = "all"')
    return {name: (listed,) if isinstance(listed, str) else listed for name, listed in value.items()}


def _placements(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


def _variants(value: Any) -> Any:
    if isinstance(value, Mapping):
        return variants_of_table(value)
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return parse_variants(value)
    raise UserError(
        "variants must be a table", "write [variants] and under it, for example, no-han = '--mca coll ^han'"
    )


def _ascending(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Each number once: a cell is measured once in a launch."""
    return tuple(sorted(set(numbers)))


# Strict, so that `true` and "8" are no numbers; the native program's counts are C ints.
Natural = Annotated[int, Field(strict=True, ge=0, le=LARGEST)]
MessageBytes = Annotated[int, Field(strict=True, ge=0, le=LARGEST_SIZE)]
Positive = Annotated[int, Field(strict=True, ge=1, le=LARGEST)]
LaunchCount = Annotated[Positive, Field(le=10_000)]
Share = Annotated[float, Field(gt=0, lt=1, strict=True)]
Regret = Annotated[float, BeforeValidator(parse_share), Field(gt=0, lt=1, strict=True)]
Seconds = Annotated[float, BeforeValidator(_seconds), Field(gt=0, le=1e9, strict=True)]
Sizes = Annotated[tuple[MessageBytes, ...], BeforeValidator(_sizes), Field(min_length=1), AfterValidator(_ascending)]
RankCounts = Annotated[tuple[Positive, ...], BeforeValidator(_ranks), Field(min_length=1), AfterValidator(_ascending)]
Datatype = Literal["uint8", "int32", "float", "double"]
Operator = Literal["sum", "prod", "max", "min", "land", "lor", "lxor", "band", "bor", "bxor"]
Root = Annotated[Natural | Literal["rotating"], BeforeValidator(_root)]
CacheMode = Literal["warm", "rotate", "flush"]
Method = Literal["timpani", "osu"]
Pairs = Literal["first", "all", "distinct"]
Collectives = Annotated[dict[str, tuple[str, ...]], BeforeValidator(_collectives)]
Placements = Annotated[
    tuple[Annotated[str, AfterValidator(check_placement)], ...], BeforeValidator(_placements), Field(min_length=1)
]

Arrival = Annotated[str, AfterValidator(check_arrival)]
PointWeights = tuple[PointWeight, ...]
Variants = Annotated[dict[str, Variant], BeforeValidator(_variants)]


class Override(BaseModel):
    """What a study says differently for one operation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sizes: Sizes | None = None
    datatype: Datatype | None = None
    operator: Operator | None = None
    root: Root | None = None
    in_place: bool | None = None


Overrides = dict[str, Override]


class OsuCounts(BaseModel):
    """How many calls a study made by OSU's protocol."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    warmup: Natural | None = None
    repetitions: Positive | None = None


class FigureChoice(BaseModel):
    """Of which rank counts, sizes and algorithms a figure is drawn; None: of all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ranks: RankCounts | None = None
    sizes: Sizes | None = None
    algorithms: tuple[str, ...] | None = None


FigureChoices = dict[str, FigureChoice]
