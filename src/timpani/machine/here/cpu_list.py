"""Sets of CPUs as Linux writes them: `0-3,8`."""

import re

_SPAN = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_MAX_SPANS = 10_000
_MAX_CPUS = 1_000_000  # of all spans together, whether they overlap or not


def parse_cpus(text: str) -> frozenset[int]:
    """The inverse of `fold_numbers`; ValueError for invalid text."""
    cpus: set[int] = set()
    count = 0
    spans = list(filter(None, text.split(",")))
    if len(spans) > _MAX_SPANS:
        raise ValueError(f"{len(spans)} spans of CPUs")
    for span in spans:
        match = _SPAN.fullmatch(span)
        if not match:
            raise ValueError(f"{span[:40]!r} is not a range of CPUs")
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1)
        count += len(numbers)
        if count > _MAX_CPUS:
            raise ValueError(f"more than {_MAX_CPUS} CPUs")
        cpus.update(numbers)
    return frozenset(cpus)
