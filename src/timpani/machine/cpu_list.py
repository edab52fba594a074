"""Sets of CPUs as Linux writes them: `0-3,8`."""


def parse_cpus(text: str) -> frozenset[int]:
    """The inverse of `fold_numbers`; ValueError for another text."""
    cpus: set[int] = set()
    for span in filter(None, text.split(",")):
        first, dash, last = span.partition("-")
        cpus.update(range(int(first), int(last if dash else first) + 1))
    return frozenset(cpus)
