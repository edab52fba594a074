"""Calls, spans of numbers, rules, and the selection table: which algorithm decides which calls.

Each library's tuning files are written from it.

The annotations are the format of `tune/table_file.py`: limits of numbers, and keys that differ from a field.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, with_config

from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.sizes import show_size

_STRICT = ConfigDict(strict=True, extra="forbid")
_Count = Annotated[int, Field(ge=0, lt=2**62)]
_Ratio = Annotated[float, Field(gt=0)]
_Algorithm = Annotated[Algorithm, BeforeValidator(Algorithm.parse), PlainSerializer(str)]


@dataclass(frozen=True, order=True)
class Call:
    """The properties of a collective call on which a choice may depend.

    per_node       the largest number of ranks of its communicator on one node
    message_bytes  as `study/cell.py` counts it
    """

    collective: str
    ranks: int
    nodes: int
    per_node: int
    message_bytes: int


@with_config(_STRICT)
@dataclass(frozen=True, order=True)
class Span:
    """Whole numbers from `first` to `last`, both included; without an end if `last` is None."""

    first: _Count = 0
    last: _Count | None = None

    def __contains__(self, number: int) -> bool:
        return self.first <= number and (self.last is None or number <= self.last)


ALL = Span()


def split_span(spans: Collection[Span], whole: Span) -> Iterator[Span]:
    """The parts of `whole` between neighboring ends of `spans`: all numbers of a part lie in the same spans."""
    cuts = {whole.first, *(each.first for each in spans), *(each.last + 1 for each in spans if each.last is not None)}
    inside = sorted(cut for cut in cuts if cut in whole)
    for first, following in pairwise(inside):
        yield Span(first, following - 1)
    yield Span(inside[-1], whole.last)


def overlap(one: Span, other: Span) -> bool:
    """Whether a number lies in both spans."""
    return one.first in other or other.first in one


def common_part(one: Span, other: Span) -> Span | None:
    """The numbers that lie in both spans; None if no number does."""
    lasts = [each.last for each in (one, other) if each.last is not None]
    part = Span(max(one.first, other.first), min(lasts) if lasts else None)
    return part if part.last is None or part.first <= part.last else None


def show_span(span: Span) -> str:
    """The span as `4`, `4 to 8`, `4 or more` or `any`."""
    if span.last is None:
        return f"{span.first} or more" if span.first else "any"
    return str(span.first) if span.first == span.last else f"{span.first} to {span.last}"


@with_config(_STRICT)
@dataclass(frozen=True)
class Evidence:
    """The measurement at one size: default's time / algorithm's time with its 95 % interval.

    A bound is None if there are too few launches for one; simulated times do not vary and have none. `launches` is 0 if
    the gain was predicted, not measured.
    """

    message_bytes: Annotated[_Count, Field(alias="bytes")]
    gain: _Ratio
    gain_low: _Ratio | None
    gain_high: _Ratio | None
    launches: _Count


@with_config(_STRICT)
@dataclass(frozen=True)
class Rule:
    """The calls for which one algorithm replaces the library's choice.

    algorithm  under its canonical name, with its provider and measured parameters
    evidence   of each measured size in `sizes`
    regret     largest excess time over the best algorithm at these sizes, as a share: the price of fewer rules
    reordered  the measured sizes at which it adds in another order than the default; None: unknown, or adds nothing
    for_order  chosen for its order of addition, so that it stays where it is slower
    """

    collective: str
    algorithm: _Algorithm
    ranks: Span = ALL
    nodes: Span = ALL
    per_node: Span = ALL
    sizes: Annotated[Span, Field(alias="bytes")] = ALL
    evidence: tuple[Evidence, ...] = ()
    regret: Annotated[float, Field(ge=0)] = 0.0
    reordered: tuple[_Count, ...] | None = None
    for_order: bool = False

    @property
    def predicted(self) -> bool:
        """Whether the rule rests on predictions, not measurements."""
        return any(not each.launches for each in self.evidence)

    def applies(self, call: Call) -> bool:
        """Whether the rule decides `call`."""
        return (
            call.collective == self.collective
            and call.ranks in self.ranks
            and call.nodes in self.nodes
            and call.per_node in self.per_node
            and call.message_bytes in self.sizes
        )


def change_of_order(rule: Rule) -> str:
    """What a rule for a reduction changes in its results, in words."""
    if rule.reordered is None:
        changes = "its order of addition is unknown"
    elif rule.reordered:
        changes = f"changes the order of addition at {', '.join(map(show_size, rule.reordered))}"
    else:
        changes = "adds doubles in the default's order at the measured sizes"
    chosen = ", and was chosen since it adds in one order at all measured sizes" if rule.for_order else ""
    return f"{rule.collective} {rule.algorithm.label}, {show_span(rule.ranks)} ranks: {changes}{chosen}"


@with_config(_STRICT)
@dataclass(frozen=True, order=True)
class SizeGap:
    """Neighboring measured sizes between which the choice changes."""

    collective: str
    ranks: _Count
    nodes: _Count
    before: _Count
    after: _Count


@with_config(_STRICT)
@dataclass(frozen=True, order=True)
class SizesAt:
    """Sizes of a collective at one rank count, ascending."""

    collective: str
    ranks: _Count
    sizes: Annotated[tuple[_Count, ...], Field(alias="bytes")]


@with_config(_STRICT)
@dataclass(frozen=True)
class PredictedRules:
    """Rules beyond the measured rank counts.

    conditions  assumptions of the rules, a sentence each
    left_out    what has no prediction, and why
    in_files    whether the libraries' files contain these rules too
    """

    rules: tuple[Rule, ...]
    conditions: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    in_files: bool = False

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank counts of the rules."""
        return tuple(sorted({rule.ranks.first for rule in self.rules}))


@with_config(_STRICT)
@dataclass(frozen=True)
class WrittenSetting:
    """A variant's settings that files set for whole programs; rules were measured in this variant.

    settings  as typed: parameters of the library and variables only
    points    at how many points it was compared with the default, and at how many it was significantly `faster`
    gain      geometric mean of default's time / its time
    """

    name: str
    settings: str
    points: _Count
    faster: _Count
    gain: _Ratio


SIMULATED = "simulated, not measured"
"""The remark on all rules that come from simulated times."""


@with_config(_STRICT)
@dataclass(frozen=True)
class SelectionTable:
    """Rules: the first one that applies decides a call. If none applies, the library chooses.

    library, version  the measured library
    source            the campaign and its date, as text
    campaigns         absolute paths of the campaigns that the rules come from
    gaps              the measured sizes between which the choice changes. The rule before a gap covers the gap if its
                      algorithm is significantly faster at both ends; else the library chooses
    measured          the smallest and largest measured size of each collective. Some files cannot distinguish a
                      collective's sizes and get a rule only if it holds at all measured sizes. A collective without an
                      entry has no limits
    predicted         rules that decide nothing here; None if none were requested
    simulated         whether the rules come from simulated times
    sampled           where a race measured only a few algorithms in few launches
    unmeasured        requested points without a time: they failed, or a race did not reach them
    setting           what files set for the whole program in addition to rules; None: nothing
    """

    library: str
    version: Annotated[str, Field(alias="library_version")]
    rules: tuple[Rule, ...]
    source: str = ""
    campaigns: tuple[str, ...] = ()
    gaps: tuple[SizeGap, ...] = ()
    measured: Mapping[str, Span] = field(default_factory=dict)
    predicted: PredictedRules | None = None
    simulated: bool = False
    sampled: tuple[SizesAt, ...] = ()
    unmeasured: tuple[SizesAt, ...] = ()
    setting: WrittenSetting | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it has neither a rule nor a setting."""
        return not self.rules and self.setting is None

    @property
    def variant(self) -> str:
        """The variant in which its rules hold."""
        return self.setting.name if self.setting else DEFAULT

    def for_files(self) -> "SelectionTable":
        """The table for files: with the predicted rules, if requested.

        `source` then names their rank counts, which no measured rule has.
        """
        if self.predicted is None or not self.predicted.in_files or not self.predicted.rules:
            return self
        counts = ", ".join(map(str, self.predicted.ranks))
        return replace(
            self,
            rules=self.rules + self.predicted.rules,
            source=f"{self.source}; rules for {counts} ranks are predicted, not measured",
        )

    def decide(self, call: Call) -> Algorithm | None:
        """The algorithm for `call`; None if the library chooses."""
        return next((rule.algorithm for rule in self.rules if rule.applies(call)), None)

    def rules_for(self, collectives: Iterable[str]) -> tuple[Rule, ...]:
        """The rules of these collectives."""
        wanted = set(collectives)
        return tuple(rule for rule in self.rules if rule.collective in wanted)
