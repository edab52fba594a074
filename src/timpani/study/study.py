"""A study: what to measure, over which ranks, sizes and algorithms, and how exactly."""

from collections.abc import Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model, model_validator

from timpani.errors import UserError, unknown, wrong_value
from timpani.reading import read_toml
from timpani.study import values as types_of_values
from timpani.study.cell import TOGETHER, Algorithm, each_of
from timpani.study.defaults import MAX_LAUNCHES, MAX_LAUNCHES_IN_BUDGET
from timpani.study.keys import DATATYPES, KEYS, REQUIRED, StudyKeys
from timpani.study.operations import OPERATIONS, CallArguments, combines
from timpani.study.point_weights import PointGoal, PointKey, point_goals
from timpani.study.values import FigureChoice, OsuCounts, Override
from timpani.study.variant import Variant, with_default
from timpani.study.words import counted, per_cent

ALL = "all"
"""In place of an algorithm: the default and every algorithm that the library offers."""

_LISTING = "docs/study-files.md"

KEY_TYPES: dict[str, Any] = get_type_hints(StudyKeys, localns={"values": types_of_values}, include_extras=True)
"""The type of each study key, with its check."""

if TYPE_CHECKING:

    class _Declared(StudyKeys, BaseModel):
        pass
else:
    _Declared = create_model(
        "_Declared",
        __config__=ConfigDict(frozen=True, extra="forbid", strict=False),
        **{name: (KEY_TYPES[name], ... if row.default is REQUIRED else row.default) for name, row in KEYS.items()},
    )


class Study(_Declared):
    """What to measure: a value for each of KEYS. Frozen; every field is checked where it enters."""

    @model_validator(mode="before")
    @classmethod
    def _races_have_more_launches(cls, values: Any) -> Any:
        racing = isinstance(values, dict) and values.get("regret") is not None and "launches" not in values
        if not racing:
            return values
        return {**values, "launches": MAX_LAUNCHES if values.get("budget") is None else MAX_LAUNCHES_IN_BUDGET}

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
            self._check_arguments(name)
        has_collectives = any(OPERATIONS[name].kind == "collective" for name in self.collectives)
        if (self.warmup is not None or self.repetitions is not None) and self.method != "osu" and has_collectives:
            raise UserError(
                "warmup and repetitions of collectives are fixed only by the osu method",
                "use --method osu, or --precision and --slot",
            )
        if self.regret is not None:
            self._check_race()
        if self.arrival != TOGETHER:
            self._check_collectives_alone(
                "--arrival",
                "and only in collectives can ranks enter late",
                "OSU's protocol doesn't synchronize ranks before a call",
            )
        return self

    def _check_collectives_alone(self, option: str, why: str, why_not_osu: str) -> None:
        """UserError unless collectives alone are measured, and by Timpani's method, as `option` needs."""
        for name in self.collectives:
            if OPERATIONS[name].kind != "collective":
                raise UserError(f"{name} is no collective, {why}", f"measure it without {option}")
        if self.method != "timpani":
            raise UserError(why_not_osu, f"leave out --method osu, or {option}")

    def _check_race(self) -> None:
        if self.weights and not self.goals:
            share = sum(each.share for each in self.weights)
            raise UserError(
                f"the collectives take {per_cent(share)} of the program's time in MPI, without waiting for late ranks: "
                f"no algorithm can gain more than the accepted {per_cent(self.regret or 0)}",
                "nothing needs to be measured; to measure anyway: --regret with a smaller share",
            )
        self._check_collectives_alone(
            "--regret", "so there are no algorithms to choose from", "a race compares interleaved algorithms"
        )

    def _check_whole_elements(self, operation: str) -> None:
        datatype = self.datatype_of(operation)
        element = DATATYPES[datatype]
        odd = [size for size in self.sizes_of(operation) if size % element]
        if odd:
            raise UserError(
                f"{odd[0]} B is not a multiple of {element} B, the size of {datatype}",
                "choose sizes that are, or --datatype uint8",
            )

    def _check_arguments(self, operation: str) -> None:
        arguments = self.arguments_of(operation)
        if not combines(arguments.operator, arguments.datatype):
            raise UserError(
                f"MPI has no {arguments.operator} of {arguments.datatype}",
                "choose --datatype int32 or uint8, or another --operator",
            )
        if isinstance(arguments.root, int) and arguments.root >= min(self.ranks):
            raise UserError(
                f"rank {arguments.root} can't be the root of {operation} on {counted(min(self.ranks), 'rank')}",
                "choose a rank below every rank count",
            )

    @property
    def goals(self) -> Mapping[PointKey, PointGoal]:
        """What a race for a program wants of each point; empty of other studies."""
        return {} if self.regret is None else point_goals(self.weights, self.regret)

    def placements_of(self, ranks: int) -> tuple[str, ...]:
        """How ranks of this count are placed."""
        wanted = self.wanted_points
        if wanted is None:
            return self.placement
        used = {placement for _, count, placement, _ in wanted if count == ranks}
        return tuple(each for each in self.placement if each in used)

    @property
    def wanted_points(self) -> Set[PointKey] | None:
        """The points of a study of a program; None of others, which measure all combinations."""
        if not self.weights:
            return None
        return {each.key for each in self.weights} if self.regret is None else self.goals.keys()

    @property
    def all_variants(self) -> dict[str, Variant]:
        """How everything is started, by name; first the variant that others are compared with."""
        return with_default(self.variants)

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

    def arguments_of(self, operation: str) -> CallArguments:
        """The arguments of one of the study's operations: those that it takes, and the initial ones of the others."""
        own = self.overrides.get(operation)
        given = {} if own is None else own.model_dump(exclude_none=True)
        taken = [name for name, takes in OPERATIONS[operation].takes.items() if takes]
        chosen = {name: given.get(name, getattr(self, name)) for name in taken}
        return CallArguments(self.datatype_of(operation), **chosen)

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
                inner: dict[str, type[BaseModel]] = {
                    "overrides": Override,
                    "figures": FigureChoice,
                    "osu": OsuCounts,
                }
                keys = inner[str(problem["loc"][0])].model_fields if len(problem["loc"]) > 1 else cls.model_fields
                where = ".".join(str(part) for part in problem["loc"][:-1])
                raise unknown(f"key in {source}: {where},", str(problem["loc"][-1]), keys, _LISTING) from None
            expected = {name: row.expected for name, row in KEYS.items()}
            raise wrong_value(source, dict(problem), expected, _LISTING) from None


def read_study(path: Path) -> Study:
    """The study in a TOML file; an algorithm list may be one string, such as "all"."""
    try:
        values = read_toml(path)
    except FileNotFoundError:
        raise UserError(f"study file not found: {path}", "`timpani list studies` shows the shipped ones") from None
    return Study.check(values, str(path))
