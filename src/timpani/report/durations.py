"""Durations as a person reads them."""


def show_seconds(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 5 min`: to two units."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
