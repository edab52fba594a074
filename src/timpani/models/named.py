"""A model and the measurements that it is of."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Model = TypeVar("Model")


@dataclass(frozen=True)
class Named(Generic[Model]):
    """name: the columns, with their values, that all the model's measurements share."""

    name: dict[str, Any]
    model: Model
