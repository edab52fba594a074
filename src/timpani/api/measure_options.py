"""The types of the options of `timpani.measure`, for editors and type checkers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from timpani.study.values import CacheMode, Datatype, Method, Operator, Pairs


class MeasureOptions(TypedDict, total=False):
    """Every key of a study file, and `algorithms`, which holds for all operations.

    A text is written as on the command line: `sizes="1:1M"`, `budget="10m"`.
    """

    title: str
    question: str
    collectives: Mapping[str, str | Sequence[str]]
    algorithms: str | Sequence[str]
    ranks: int | str | Sequence[int]
    sizes: int | str | Sequence[int]
    overrides: Mapping[str, Mapping[str, Any]]
    variants: Mapping[str, Any] | Sequence[str]
    figures: Mapping[str, Mapping[str, Any]]
    pairs: Pairs
    placement: str | Sequence[str]
    mode: CacheMode
    arrival: str
    lateness: Sequence[Mapping[str, Any]]
    weights: Sequence[Mapping[str, Any]]
    method: Method
    osu: Mapping[str, int]
    datatype: Datatype
    operator: Operator
    root: int | Literal["rotating"]
    in_place: bool
    launches: int
    regret: float | str
    precision: float
    slot: float | str
    budget: float | str
    seed: int
    warmup: int
    repetitions: int
    rules: str
    tuned: str
    include_setup: bool
    clean_environment: bool
    probe: bool
