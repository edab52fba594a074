"""How often are the states of a machine found wrongly? Synthetic probes of known states, with disturbed values."""

import numpy as np
from numpy.typing import NDArray

from timpani.stats.states import find_states

SAMPLES = 40
VALUES = (20, 70, 200, 1000)
DISTURBED = (0.0, 0.02, 0.05, 0.1)
NEAR = 0.12
"""A level is found where it is within this share of the true one."""

KINDS = {
    "one": ((47.0,), (1.0,)),
    "two, 1 : 1, a factor of 4 apart": ((44.0, 174.0), (0.5, 0.5)),
    "two, 7 : 3": ((44.0, 174.0), (0.7, 0.3)),
    "two, 9 : 1": ((44.0, 174.0), (0.9, 0.1)),
    "two, a factor of 1.7 apart": ((47.0, 80.0), (0.5, 0.5)),
    "three": ((40.0, 90.0, 225.0), (0.3, 0.3, 0.4)),
}

Floats = NDArray[np.float64]


def probes(seed: int, levels: tuple[float, ...], shares: tuple[float, ...], count: int, disturbed: int) -> Floats:
    """`count` probes in ns of states with 5 % of noise, `disturbed` of which take 3 to 100,000 times as long."""
    random = np.random.default_rng(seed)
    of_each = np.floor(np.array(shares) * count).astype(int)
    of_each[0] += count - of_each.sum()
    values = np.repeat(levels, of_each) * np.exp(0.05 * random.standard_normal(count))
    chosen = random.choice(count, disturbed, replace=False)
    values[chosen] *= 10 ** random.uniform(0.5, 5, disturbed)
    ticks: Floats = np.maximum(values.round(), 1.0)
    return ticks


def share_wrong(levels: tuple[float, ...], shares: tuple[float, ...], count: int, disturbed: float) -> float:
    """The share of samples in which another number of states or another level is found."""
    found = [find_states(probes(seed, levels, shares, count, round(disturbed * count))) for seed in range(SAMPLES)]
    right = [len(each.levels) == len(levels) and np.allclose(each.levels, levels, rtol=NEAR) for each in found]
    return 1 - sum(right) / SAMPLES


def run() -> None:
    print("| states | probes | " + " | ".join(f"{share:.0%} disturbed" for share in DISTURBED) + " |")
    print("|---|---|" + "---|" * len(DISTURBED))
    for name, (levels, shares) in KINDS.items():
        for count in VALUES:
            if len(levels) == 1 or min(shares) * count >= 6:
                wrong = (share_wrong(levels, shares, count, disturbed) for disturbed in DISTURBED)
                print(f"| {name} | {count} | " + " | ".join(f"{100 * share:.0f}" for share in wrong) + " |")
