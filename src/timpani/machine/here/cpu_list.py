"""Sets of CPUs as Linux writes them: `0-3,8`."""

import re

_SPAN = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_MOST_SPANS = 10_000


def parse_cpus(text: str) -> frozenset[int]:
    """The inverse of `fold_numbers`; ValueError for another text."""
    cpus: set[int] = set()
    spans = list(filter(None, text.split(",")))
    if len(spans) > _MOST_SPANS:
        raise ValueError(f"{len(spans)} spans of CPUs")
    for span in spans:
        match = _SPAN.fullmatch(span)
        if not match:
            raise ValueError(f"{span[:40]!r} is not a range of CPUs")
        cpus.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(cpus)
