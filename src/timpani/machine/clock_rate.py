"""The clock rate that a processor's name states."""

import re
from collections.abc import Mapping
from typing import Any

_STATED = re.compile(r"@ ?(\d+(?:\.\d+)?) ?GHz")


def stated_clock_ghz(machine: Mapping[str, Any]) -> float | None:
    """GHz of a campaign's machine, from `cpu`: `Xeon X5660 @ 2.80GHz`; None where the name doesn't state it.

    The nominal rate, at which a core need not have run.
    """
    found = _STATED.search(str(machine.get("cpu", "")))
    return float(found[1]) if found else None
