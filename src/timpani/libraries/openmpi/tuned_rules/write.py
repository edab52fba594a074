"""A rules file's text, of rules that it can say."""

from collections.abc import Iterator, Mapping

from timpani.errors import printable
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.openmpi.tuned_rules.collectives import MAX_LONG, TUNED
from timpani.libraries.openmpi.tuned_rules.parameters import fields
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span, split_span
from timpani.study.sizes import LARGEST, show_size

Sizes = Mapping[int, Algorithm | None]
"""From which size on which algorithm; None: the library chooses."""

_COMPARED = {
    "vector": "sizes are bytes of the vector",
    "blocks": "sizes are ranks x bytes of a block",
    "elements": "the library compares no size",
    "nothing": "the library compares no size",
}


def rules_lines(said: SelectionTable, catalogue: Catalogue, version: int) -> Iterator[str]:
    """The lines of a file in this version of the format."""
    collectives = [name for name in TUNED if said.rules_for([name])]
    if version > 1:
        yield f"rule-file-version-{version}"
    yield f"{len(collectives)}  # collectives; for {printable(f'{catalogue.title}, from {said.source}')}"
    for name in collectives:
        entries = dict(by_ranks(name, said.rules_for([name])))
        yield f"{TUNED[name].id}  # {name}: {_COMPARED[TUNED[name].unit]}"
        yield f"{len(entries)}  # communicator sizes"
        for ranks, sizes in entries.items():
            yield f"{ranks} {len(sizes)}  # from {ranks} ranks"
            for size, algorithm in sizes.items():
                chosen = algorithm.plain if algorithm else "the library chooses"
                yield f"{size} {_numbers(name, algorithm, catalogue, version)}  # from {show_size(size)}: {chosen}"


def _numbers(collective: str, algorithm: Algorithm | None, catalogue: Catalogue, version: int) -> str:
    """ALG TOPO SEGSIZE [MAXREQ]. Nought is what the library takes where a field means nothing."""
    info = catalogue.info(collective, algorithm) if algorithm else None
    asked = dict(algorithm.parameters) if algorithm else {}
    given = {where: asked.get(each.name, each.default) for where, each in fields(info).items()} if info else {}
    values = [int(info.value) if info else 0, given.get("topo", 0), given.get("segment", 0)]
    values += [given.get("requests", 0)] if version > 1 else []
    return " ".join(map(str, values))


def by_ranks(collective: str, rules: tuple[Rule, ...]) -> Iterator[tuple[int, Sizes]]:
    """From which rank count on which choices; the first from 0 on, so that there is no smaller communicator."""
    before: Sizes | None = None
    for ranks, sizes in _all_ranks(collective, rules):
        if ranks <= LARGEST and sizes != before:
            yield ranks, (before := sizes)


def _all_ranks(collective: str, rules: tuple[Rule, ...]) -> Iterator[tuple[int, Sizes]]:
    for span in split_span([rule.ranks for rule in rules], ALL):
        here = [rule for rule in rules if span.first in rule.ranks]
        yield from ((ranks, _by_size(collective, ranks, here)) for ranks in _counts(collective, span, here))


def _counts(collective: str, span: Span, rules: list[Rule]) -> "range | tuple[int]":
    """The rank counts of a span that need an entry: each, where thresholds grow with them."""
    if TUNED[collective].unit != "blocks" or all(rule.sizes == ALL for rule in rules):
        return (span.first,)
    assert span.last is not None, "such a rule is not sayable"
    return range(span.first, span.last + 1)


def _by_size(collective: str, ranks: int, rules: list[Rule]) -> Sizes:
    """The choices by the size that is compared."""
    found: dict[int, Algorithm | None] = {}
    before: Algorithm | None = None
    for size in split_span([rule.sizes for rule in rules], ALL):
        call = Call(collective, ranks, 1, 1, size.first)
        algorithm = next((rule.algorithm for rule in rules if call.message_bytes in rule.sizes), None)
        algorithm = None if algorithm is None or algorithm.is_default else algorithm
        compared = TUNED[collective].compared(call) if size.first else 0
        if compared <= MAX_LONG and (not found or algorithm != before):
            found[compared] = before = algorithm
    return found
