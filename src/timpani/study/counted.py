"""Numbers of things in words."""


def counted(count: int, noun: str) -> str:
    """`1 cell`, `2 cells`, `2 launches`: `noun` is a regular one, in the singular."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


MIN_PER_CENT = 0.01
"""Smallest share that `per_cent` prints as a number, in per cent."""


def per_cent(share: float) -> str:
    """`5 %`, `2.5 %`: `share` with at most three digits; `under 0.01 %` where it is smaller and not 0."""
    small = 0 < 100 * share < MIN_PER_CENT
    return f"under {MIN_PER_CENT:g} %" if small else f"{100 * share:.3g} %"
