"""Sets of CPUs as Linux writes them: `0-3,8`."""

from collections.abc import Iterable


def show_cpus(cpus: Iterable[int]) -> str:
    """`0-3,8` for 0, 1, 2, 3 and 8; nothing for none."""
    spans: list[list[int]] = []
    for cpu in sorted(cpus):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def parse_cpus(text: str) -> frozenset[int]:
    """The inverse of `show_cpus`; ValueError for another text."""
    cpus: set[int] = set()
    for span in filter(None, text.split(",")):
        first, dash, last = span.partition("-")
        cpus.update(range(int(first), int(last if dash else first) + 1))
    return frozenset(cpus)
