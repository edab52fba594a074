"""A model, and which measurements it was fitted to."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Model = TypeVar("Model")


@dataclass(frozen=True)
class NamedModel(Generic[Model]):
    """name: the columns, with their values, that these measurements have in common."""

    name: dict[str, Any]
    model: Model


@dataclass(frozen=True)
class NotFitted:
    """In place of a model: why there is none, as a sentence."""

    why: str
