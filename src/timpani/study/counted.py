"""Numbers of things in words."""


def counted(count: int, noun: str) -> str:
    """`1 cell`, `2 cells`, `2 launches`: `noun` is a regular one, in the singular."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


def per_cent(share: float) -> str:
    """`5 %`, `2.5 %`: `share` with at most three digits."""
    return f"{100 * share:.3g} %"
