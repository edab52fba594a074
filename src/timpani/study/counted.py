"""Numbers of things in words."""


def counted(count: int, noun: str) -> str:
    """`1 cell`, `2 cells`: `noun` is a regular one, in the singular."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
