"""Our schedules on a clock: when each message flows under Hockney's model, as `native/simulate` walks them."""

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from timpani.errors import UserError
from timpani.study.cell import Algorithm


@dataclass(frozen=True)
class Costs:
    """A message of n bytes takes α + β·n, a reduction of n bytes γ·n, in any one unit of time; copies are free.

    The standard values are the unit clock: a message takes one tick, whatever its size.
    """

    alpha: float = 1.0
    beta: float = 0.0
    gamma: float = 0.0


UNIT_CLOCK = Costs()


@dataclass(frozen=True)
class RankPlace:
    """The node that a rank is on and the node's group, by number."""

    node: int
    group: int = 0


@dataclass(frozen=True)
class Call:
    """One call of an algorithm of ours. `count` is in elements, as the collective's size counts them.

    places  of all ranks, for algorithms that ask which share a node; else empty
    """

    collective: str
    algorithm: Algorithm
    ranks: int
    count: int
    root: int = 0
    element_bytes: int = 1
    places: tuple[RankPlace, ...] = ()


EVENT_SCHEMA: dict[str, pl.DataType] = {
    "kind": pl.String(),
    "rank": pl.Int64(),
    "peer": pl.Int64(),
    "round": pl.Int64(),
    "bytes": pl.Int64(),
    "start": pl.Float64(),
    "end": pl.Float64(),
}
"""The columns of what happened: a row for each message (`send`, from `rank` to `peer`), copy and
reduction (peer −1)."""


@dataclass(frozen=True)
class NotSimulated:
    """In place of a time: why there is none, such as that the algorithm does not apply."""

    why: str


@dataclass(frozen=True)
class Simulator:
    """The native simulator in the folder `programs`."""

    programs: Path

    def events(self, calls: Iterable[Call], costs: Costs = UNIT_CLOCK) -> list[pl.DataFrame]:
        """What happens in each call, columns EVENT_SCHEMA; UserError where an algorithm does not apply."""
        return [
            pl.DataFrame(_granted(answer)["events"], schema=EVENT_SCHEMA, orient="row")
            for answer in self._ask(_line(call, costs, "events") for call in calls)
        ]

    def times(self, calls: Iterable[tuple[Call, Costs]]) -> list[float | NotSimulated]:
        """How long each call takes, in its costs' unit."""
        answers = self._ask(_line(call, costs, "time") for call, costs in calls)
        return [NotSimulated(answer["error"]) if "error" in answer else answer["time"] for answer in answers]

    def _ask(self, lines: Iterable[str]) -> list[dict[str, Any]]:
        text = "".join(f"{line}\n" for line in lines)
        answer = subprocess.run(
            [self.programs / "timpani-simulate"], input=text, capture_output=True, text=True, check=True
        )
        return [json.loads(line) for line in answer.stdout.splitlines()]


def _granted(answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        raise UserError(answer["error"], "choose another rank count or algorithm; `timpani list algorithms`")
    return answer


def _line(call: Call, costs: Costs, what: str) -> str:
    words = (call.collective, call.algorithm.plain, call.ranks, call.count, call.root, call.element_bytes)
    places = (number for place in call.places for number in (place.node, place.group))
    return " ".join(map(str, (*words, costs.alpha, costs.beta, costs.gamma, what, *places)))
