"""How a difference between two times is named: significant where times vary, a ratio where they are simulated."""

from timpani.stats.compare import INDIFFERENCE, INDIFFERENCE_TEXT
from timpani.study.words import per_cent

_BEYOND = per_cent(INDIFFERENCE[1] - 1)

EXACT = (
    f"Simulated times do not vary, so no difference is due to chance: two times differ if their ratio is outside "
    f"{INDIFFERENCE_TEXT}."
)


def faster(simulated: bool) -> str:
    """`significantly faster`, or of simulated times, which do not vary, by how much."""
    return f"over {_BEYOND} faster" if simulated else "significantly faster"
