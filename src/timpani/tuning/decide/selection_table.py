"""Which algorithm where: the selection table that each library's tuning files are written from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from timpani.study.cell import DEFAULT, Algorithm


@dataclass(frozen=True, order=True)
class Call:
    """A call of a collective, as far as a choice may depend on it.

    per_node       the most ranks of its communicator that share a node
    message_bytes  as `study/cell.py` counts it
    """

    collective: str
    ranks: int
    nodes: int
    per_node: int
    message_bytes: int


@dataclass(frozen=True, order=True)
class Span:
    """Whole numbers from `first` to `last`, both among them; without end where `last` is None."""

    first: int = 0
    last: int | None = None

    def __contains__(self, number: int) -> bool:
        return self.first <= number and (self.last is None or number <= self.last)


ALL = Span()


@dataclass(frozen=True)
class Evidence:
    """What was measured at one size: default's time / algorithm's with its 95 % interval, and over how many launches: 0
    where it was not measured but predicted.

    A bound is None where launches are too few for one; simulated times do not vary and have none.
    """

    message_bytes: int
    gain: float
    gain_low: float | None
    gain_high: float | None
    launches: int


@dataclass(frozen=True)
class Rule:
    """Where one algorithm takes the library's place at choosing.

    algorithm  under its canonical name, with its provider and the parameters that were measured
    evidence   of each measured size in `sizes`
    cost       what it takes more there than the best algorithm, as a share, at most: the price of having fewer rules
    """

    collective: str
    algorithm: Algorithm
    ranks: Span = ALL
    nodes: Span = ALL
    per_node: Span = ALL
    sizes: Span = ALL
    evidence: tuple[Evidence, ...] = ()
    cost: float = 0.0

    @property
    def predicted(self) -> bool:
        """Whether nobody measured what it says."""
        return any(not each.launches for each in self.evidence)

    def applies(self, call: Call) -> bool:
        """Whether it decides `call`."""
        return (
            call.collective == self.collective
            and call.ranks in self.ranks
            and call.nodes in self.nodes
            and call.per_node in self.per_node
            and call.message_bytes in self.sizes
        )


@dataclass(frozen=True, order=True)
class SizeGap:
    """Neighbouring measured sizes between which the choice changes somewhere."""

    collective: str
    ranks: int
    nodes: int
    before: int
    after: int


@dataclass(frozen=True, order=True)
class SizesAt:
    """Some sizes of a collective on so many ranks, ascending."""

    collective: str
    ranks: int
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class PredictedRules:
    """Rules beyond the measured rank counts, which nobody measured.

    conditions  what they rest on, a sentence each
    left_out    what has no prediction, and why
    in_files    whether files that libraries read say them too
    """

    rules: tuple[Rule, ...]
    conditions: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    in_files: bool = False

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank counts that rules are for."""
        return tuple(sorted({rule.ranks.first for rule in self.rules}))


@dataclass(frozen=True)
class WrittenSetting:
    """A variant's settings that files set for whole programs; rules were measured in this variant.

    settings  as typed: parameters of the library and variables only
    points    at how many points it was compared with the default, and at how many it was significantly `faster`
    gain      geometric mean of default's time / its time
    """

    name: str
    settings: str
    points: int
    faster: int
    gain: float


SIMULATED = "simulated, not measured"
"""What is said of rules that were made from simulated times, wherever they stand."""


@dataclass(frozen=True)
class SelectionTable:
    """Rules, of which the first that applies decides a call; where none does the library chooses.

    library, version  that was measured
    source            the campaign and when it was measured, for people
    campaigns         the folders of those that decided, absolute
    gaps              between which measured sizes the choice changes: there the rule before holds, if its algorithm is
                      shown to be faster at both ends, or else the library chooses
    measured          of each collective the smallest and the largest size that were measured: some files can't tell a
                      collective's sizes apart, and say a rule only if it holds at all of them; not there: at any size
    predicted         rules that decide nothing here; None where none were asked for
    simulated         whether what the rules were made from was simulated, so that nobody measured it
    looked_at         where a race measured a few algorithms in few launches only
    unmeasured        what was asked for and has no time: it failed, or a race did not come to it
    setting           what files set for the whole program in addition to rules; None: nothing
    """

    library: str
    version: str
    rules: tuple[Rule, ...]
    source: str = ""
    campaigns: tuple[str, ...] = ()
    gaps: tuple[SizeGap, ...] = ()
    measured: Mapping[str, Span] = field(default_factory=dict)
    predicted: PredictedRules | None = None
    simulated: bool = False
    looked_at: tuple[SizesAt, ...] = ()
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
        """What files say: with the predicted rules where these are to be in files, and `source` then names their rank
        counts, which no measured rule has."""
        if self.predicted is None or not self.predicted.in_files or not self.predicted.rules:
            return self
        counts = ", ".join(map(str, self.predicted.ranks))
        return replace(
            self,
            rules=self.rules + self.predicted.rules,
            source=f"{self.source}; rules for {counts} ranks are predicted, not measured",
        )

    def decide(self, call: Call) -> Algorithm | None:
        """The algorithm for `call`; None where the library chooses."""
        return next((rule.algorithm for rule in self.rules if rule.applies(call)), None)

    def of(self, collectives: Iterable[str]) -> tuple[Rule, ...]:
        """The rules of these collectives."""
        wanted = set(collectives)
        return tuple(rule for rule in self.rules if rule.collective in wanted)
