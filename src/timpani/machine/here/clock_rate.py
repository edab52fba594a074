"""The clock rate that a processor's name states."""

import re

_STATED = re.compile(r"@ ?(\d+(?:\.\d+)?) ?GHz")


def nominal_clock_ghz(cpu: str) -> float | None:
    """GHz in a processor's name such as `Xeon X5660 @ 2.80GHz`; None if it has no rate.

    It is the nominal rate, not necessarily the actual one.
    """
    found = _STATED.search(cpu)
    return float(found[1]) if found else None
