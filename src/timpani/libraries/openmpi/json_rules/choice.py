"""What Open MPI 6 chooses by rules in JSON."""

from collections.abc import Mapping
from dataclasses import dataclass

from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.openmpi.json_rules.entries import JsonEntry, JsonRule
from timpani.libraries.openmpi.tuned_rules.collectives import TUNED
from timpani.libraries.openmpi.tuned_rules.parameters import Field, library_name, written_algorithm
from timpani.study.cell import Algorithm
from timpani.study.selection import Call

_NO_ALGORITHM = "ignore"
"""The name of id 0: the library decides."""


@dataclass(frozen=True)
class NamedAlgorithms:
    """The algorithms of one collective, by their ids and by their names in lower case: the reader ignores case."""

    by_id: Mapping[int, AlgorithmInfo]
    by_name: Mapping[str, AlgorithmInfo]

    @classmethod
    def of_collective(cls, catalogue: Catalogue, collective: str) -> "NamedAlgorithms":
        """Those of `catalogue`."""
        infos = catalogue.algorithms.get(collective, ())
        return cls({int(info.value): info for info in infos}, {library_name(info).lower(): info for info in infos})

    def knows(self, rule: JsonRule) -> bool:
        """Whether the library accepts the rule's algorithm; it skips a rule with another one."""
        return rule.algorithm is None or _leaves_choice(rule) or self.info(rule) is not None

    def info(self, rule: JsonRule) -> AlgorithmInfo | None:
        """The rule's algorithm; None if the rule leaves the choice to the library, or if it is unknown."""
        if isinstance(rule.algorithm, str):
            named = self.by_name.get(rule.algorithm.lower())
            return named or self.by_id.get(_as_number(rule.algorithm) or 0)
        return self.by_id.get(rule.algorithm or 0)


def _leaves_choice(rule: JsonRule) -> bool:
    if isinstance(rule.algorithm, str):
        return rule.algorithm.lower() == _NO_ALGORITHM or _as_number(rule.algorithm) == 0
    return rule.algorithm == 0


def _as_number(text: str) -> int | None:
    """`text` as C's strtol reads it, in any base."""
    try:
        return int(text, 8 if text.startswith("0") and text.isdecimal() else 0)
    except ValueError:
        return None


@dataclass(frozen=True)
class JsonChoice:
    """The entries of each collective, and its algorithms."""

    provider: str
    entries: Mapping[str, tuple[JsonEntry, ...]]
    algorithms: Mapping[str, NamedAlgorithms]

    def decide(self, call: Call) -> Algorithm | None:
        """The canonical name, and the parameters that are not the library's defaults."""
        entry = next((each for each in self.entries.get(call.collective, ()) if each.fits(call)), None)
        if entry is None:
            return None
        size = TUNED[call.collective].compared(call)
        algorithms = self.algorithms[call.collective]
        rule = next((each for each in entry.rules if each.fits(size) and algorithms.knows(each)), None)
        info = algorithms.info(rule) if rule else None
        if rule is None or info is None:
            return None
        values: dict[Field, int | None] = {"topo": rule.faninout, "segment": rule.segment, "requests": rule.requests}
        return written_algorithm(self.provider, info, values)
