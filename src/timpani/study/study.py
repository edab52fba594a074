"""A study: what to measure, over which ranks, sizes and algorithms, and how exactly."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from timpani.errors import UserError, unknown, wrong_value
from timpani.reading import read_toml
from timpani.study.cell import Algorithm
from timpani.study.operations import OPERATIONS
from timpani.study.parameter_series import each_of
from timpani.study.placement import check_placement
from timpani.study.sizes import LARGEST, RANK_COUNT, parse_sizes

DATATYPES = {"uint8": 1, "int32": 4, "float": 4, "double": 8}
"""Element types and their bytes; reductions add."""

ALL = "all"
"""In place of an algorithm: the default and every algorithm that the library offers."""

LAUNCHES, MOST_LAUNCHES = 10, 32
"""What a study does where it doesn't say: so many launches of everything, or at most so many of a race."""

MOST_IN_BUDGET = 64
"""The same of a race with a budget of time: as many as it looks after (`LOOKS` of stats/regret.py)."""

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


def _share(value: Any) -> Any:
    """A share, or its text in per cent."""
    match = _PER_CENT.fullmatch(value) if isinstance(value, str) else None
    return float(match[1]) / (100 if match[2] else 1) if match else value


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


def _seconds(value: Any) -> Any:
    return parse_duration(value) if isinstance(value, str) else value


def _collectives(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise UserError("collectives must be a table", 'write [collectives] and under it, for example, bcast = "all"')
    return {name: (listed,) if isinstance(listed, str) else listed for name, listed in value.items()}


def _placements(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


def _ascending(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Each number once: a cell is measured once in a launch."""
    return tuple(sorted(set(numbers)))


# Strict, so that `true` and "8" are no numbers; the native program's counts are C ints.
_Natural = Annotated[int, Field(strict=True, ge=0, le=LARGEST)]
_Positive = Annotated[int, Field(strict=True, ge=1, le=LARGEST)]
_Seconds = Annotated[float, BeforeValidator(_seconds), Field(gt=0, le=1e9, strict=True)]
_Sizes = Annotated[tuple[_Natural, ...], BeforeValidator(_sizes), Field(min_length=1), AfterValidator(_ascending)]
_Datatype = Literal["uint8", "int32", "float", "double"]


_EXPECTED = {
    "title": "a text",
    "question": "a text",
    "collectives": 'a table such as bcast = "all"',
    "ranks": 'whole numbers from 1, for example 2, [2, 4, 8] or "2:48+2"',
    "sizes": f'bytes from 0 to {LARGEST}, for example 8, [8, 1024] or "1:1M"',
    "overrides": "sizes or datatype under [overrides.OPERATION]",
    "pairs": "first, all or distinct",
    "placement": "core, socket, node or ppr:N, or a list of them",
    "mode": "warm, rotate or flush",
    "method": "timpani or osu",
    "datatype": f"one of {', '.join(DATATYPES)}",
    "launches": "a whole number from 1 to 10000",
    "precision": "a share between 0 and 1, for example 0.05",
    "slot": "a duration, for example 50ms or 1s",
    "budget": "a duration, for example 90s, 10m or 2h",
    "seed": f"a whole number from 0 to {LARGEST}",
    "warmup": f"a whole number from 0 to {LARGEST}",
    "repetitions": f"a whole number from 1 to {LARGEST}",
    "rules": "the name of a file of rules",
    "tuned": "the name of a folder that `timpani tune` wrote",
    "include_setup": "true or false",
    "regret": 'a share between 0 and 1, for example 0.02 or "2%"',
    "probe": "true or false",
}
"""What may be written for each key, as an error tells it."""

_LISTING = "docs/study-files.md"


class Override(BaseModel):
    """What a study says differently for one operation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sizes: _Sizes | None = None
    datatype: _Datatype | None = None


class Study(BaseModel):
    """What to measure. Frozen; every field is checked where it enters.

    collectives  per operation the algorithms as typed: `default`, `knomial`, `openmpi/chain:fanout=4`, or `all`
    overrides    per operation other sizes and another datatype than the study's
    launches     starts of the MPI program; where `regret` is given, at most
    regret       what a choice may cost at each point, as a share of the best algorithm's time: algorithms and sizes are
                 measured on only until a 95 % bound of that is no larger; None: everything in all launches
    pairs        between which ranks point-to-point operations go that name none: ranks 0 and 1; every pair; or one pair
                 for each locality of cores that occurs on this machine
    precision    half-width of the 95 % interval of the median inside a launch, relative; ends a cell
    slot         longest time that one cell is measured in one launch, seconds
    rules        a file of `timpani rules`: each collective is measured with it beneath too, beside the others
    tuned        a folder of `timpani tune`: each collective is measured with its files switched on too
    include_setup  whether each call of an algorithm of ours or a composed one builds what is otherwise built once for a
                   communicator
    probe          whether the state of the machine is looked at before and after each point
    budget       longest time of the whole campaign, seconds; slots shrink to fit; a race goes on for so long, even
                 where launches would hardly show more
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)

    title: str = ""
    question: str = ""
    collectives: Annotated[dict[str, tuple[str, ...]], BeforeValidator(_collectives)]
    ranks: Annotated[tuple[_Positive, ...], BeforeValidator(_ranks), Field(min_length=1), AfterValidator(_ascending)]
    sizes: _Sizes
    overrides: dict[str, Override] = {}
    pairs: Literal["first", "all", "distinct"] = "first"
    placement: Annotated[
        tuple[Annotated[str, AfterValidator(check_placement)], ...], BeforeValidator(_placements), Field(min_length=1)
    ] = ("core",)
    mode: Literal["warm", "rotate", "flush"] = "warm"
    method: Literal["timpani", "osu"] = "timpani"
    datatype: _Datatype = "uint8"
    launches: Annotated[_Positive, Field(le=10_000)] = LAUNCHES
    regret: Annotated[float, BeforeValidator(_share), Field(gt=0, lt=1, strict=True)] | None = None
    precision: Annotated[float, Field(gt=0, lt=1, strict=True)] = 0.05
    slot: _Seconds = 0.1
    budget: _Seconds | None = None
    seed: _Natural = 1
    warmup: _Natural | None = None
    repetitions: _Positive | None = None
    rules: str | None = None
    tuned: str | None = None
    include_setup: bool = False
    probe: bool = True

    @model_validator(mode="before")
    @classmethod
    def _races_have_more_launches(cls, values: Any) -> Any:
        racing = isinstance(values, dict) and values.get("regret") is not None and "launches" not in values
        if not racing:
            return values
        return {**values, "launches": MOST_LAUNCHES if values.get("budget") is None else MOST_IN_BUDGET}

    @model_validator(mode="after")
    def _consistent(self) -> "Study":
        if not self.collectives:
            raise UserError("the study names no collective", "add one, for example bcast")
        for name, algorithms in self.collectives.items():
            if name not in OPERATIONS:
                raise unknown("operation", name, OPERATIONS, "timpani list operations")
            if not algorithms:
                raise UserError(f"{name} has no algorithm", f"write '{ALL}' or 'default'")
            for text in algorithms:
                for each in each_of(text):
                    Algorithm.parse(each)
        for name in self.overrides:
            if name not in self.collectives:
                raise unknown("operation under overrides", name, self.collectives, _LISTING)
        for name in self.collectives:
            self._check_whole_elements(name)
        has_collectives = any(OPERATIONS[name].kind == "collective" for name in self.collectives)
        if (self.warmup is not None or self.repetitions is not None) and self.method != "osu" and has_collectives:
            raise UserError(
                "warmup and repetitions of collectives are fixed only by the osu method",
                "use --method osu, or --precision and --slot",
            )
        if self.regret is not None:
            self._check_race()
        return self

    def _check_race(self) -> None:
        others = [name for name in self.collectives if OPERATIONS[name].kind != "collective"]
        if others:
            raise UserError(
                f"{others[0]} is no collective, and only among their algorithms is a choice",
                "measure it without --regret",
            )
        if self.method != "timpani":
            raise UserError("a race compares what is measured in turn", "leave out --method osu, or --regret")

    def _check_whole_elements(self, operation: str) -> None:
        datatype = self.datatype_of(operation)
        element = DATATYPES[datatype]
        odd = [size for size in self.sizes_of(operation) if size % element]
        if odd:
            raise UserError(
                f"{odd[0]} B is not a multiple of {element} B, the size of {datatype}",
                "choose sizes that are, or --datatype uint8",
            )

    def sizes_of(self, operation: str) -> tuple[int, ...]:
        """The sizes of one of the study's operations: its own where it has some, 0 where it has no size."""
        if not OPERATIONS[operation].sized:
            return (0,)
        own = self.overrides.get(operation)
        return own.sizes if own is not None and own.sizes is not None else self.sizes

    def datatype_of(self, operation: str) -> str:
        """The element type of one of the study's operations."""
        own = self.overrides.get(operation)
        return own.datatype if own is not None and own.datatype is not None else self.datatype

    @classmethod
    def check(cls, values: dict[str, Any], source: str) -> "Study":
        """A study from plain values; UserError names `source` and the key at fault."""
        unknown_keys = sorted(values.keys() - cls.model_fields.keys())
        if unknown_keys:
            raise unknown(f"key in {source}", unknown_keys[0], cls.model_fields, _LISTING)
        try:
            return cls.model_validate(values)
        except UserError as error:
            raise UserError(f"{source}: {error.what}", error.next_step) from None
        except ValidationError as error:
            problem = error.errors()[0]
            if problem["type"] == "extra_forbidden":
                keys = Override.model_fields if len(problem["loc"]) > 1 else cls.model_fields
                where = ".".join(str(part) for part in problem["loc"][:-1])
                raise unknown(f"key in {source}: {where},", str(problem["loc"][-1]), keys, _LISTING) from None
            raise wrong_value(source, dict(problem), _EXPECTED, _LISTING) from None


def read_study(path: Path) -> Study:
    """The study in a TOML file; an algorithm list may be one string, such as "all"."""
    try:
        values = read_toml(path)
    except FileNotFoundError:
        raise UserError(f"study file not found: {path}", "`timpani list studies` shows the shipped ones") from None
    return Study.check(values, str(path))
