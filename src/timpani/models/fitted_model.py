"""A model, and the measurements it was fitted to."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Model = TypeVar("Model")


@dataclass(frozen=True)
class NamedModel(Generic[Model]):
    """name: columns and values that these measurements have in common."""

    name: dict[str, Any]
    model: Model


@dataclass(frozen=True)
class NotFitted:
    """The reason why a model couldn't be fitted, as a sentence."""

    why: str
