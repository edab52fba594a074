"""The clock rate that a processor's name states."""

import re

_STATED = re.compile(r"@ ?(\d+(?:\.\d+)?) ?GHz")


def stated_clock_ghz(cpu: str) -> float | None:
    """GHz of a processor's name such as `Xeon X5660 @ 2.80GHz`; None where the name doesn't state it.

    The nominal rate, at which a core need not have run.
    """
    found = _STATED.search(cpu)
    return float(found[1]) if found else None
