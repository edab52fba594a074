"""How often the switches in generated curves are found, none are invented, and intervals cover what they should."""

import time
from collections.abc import Iterable

from bench.common.generated_curves import DISTURBED, NOISE, SIZES, Generated, generate
from timpani.stats.fit import hockney, regimes
from timpani.stats.segments import segment, switches

CURVES = 1000
MUST_FIND = 0.95
MUST_STAY_CLEAN = 0.97
MUST_COVER = (0.93, 0.97)


def run() -> None:
    print(f"{CURVES} curves of 23 sizes, {NOISE:.0%} noise; right: every switch at its size, and no other")
    for launches, common in ((5, 0.0), (5, 0.5), (1, 0.0)):
        must = f"; must be {MUST_FIND:.0%}" if launches > 1 else ""
        began = time.perf_counter()
        right = share_right(generate(CURVES, launches, seed=1, common=common))
        each = (time.perf_counter() - began) / CURVES
        noise = "" if not common else f", {common:.0%} of the noise's variance common to a size's launches"
        print(f"launches: {launches}{noise}; {right:.1%} right{must}; {each * 1e3:.1f} ms a curve")
        clean = share_right(generate(CURVES, launches, seed=2, switches=0, common=common))
        print(f"  without a switch: {clean:.1%} clean; must be {MUST_STAY_CLEAN:.0%}")
    for jump in (1.1, 1.15, 1.2, 1.5):
        shares = [share_right(generate(CURVES, launches, seed=3, jumps=(jump, jump))) for launches in (5, 1)]
        print(f"all jumps by {jump}: {shares[0]:.1%} right with 5 launches, {shares[1]:.1%} with 1")
    for launches in (5, 1):
        jumping = share_jumping(generate(CURVES, launches, seed=7))
        bending = share_jumping(generate(CURVES, launches, seed=7, jumps=(1.0, 1.0)))
        print(f"launches: {launches}; called switches: {jumping:.1%} of jumps found, {bending:.1%} of bends found")
    for sizes, words in ((1, "one time of each curve"), (len(SIZES), "one time at each size")):
        print(f"10 launches, {words} disturbed by a factor of {DISTURBED[0]:.0f} to {DISTURBED[1]:.0f}")
        right = share_right(generate(CURVES, 10, seed=5, disturbed=sizes))
        clean = share_right(generate(CURVES, 10, seed=5, switches=0, disturbed=sizes))
        print(
            f"  {right:.1%} right; must be {MUST_FIND:.0%}; without a switch {clean:.1%}; must be {MUST_STAY_CLEAN:.0%}"
        )
        latency, per_byte = coverage(generate(2 * CURVES, 10, seed=6, disturbed=sizes))
        print(f"  T_s covered {latency:.1%}, T_c {per_byte:.1%}; must be {MUST_COVER[0]:.0%} to {MUST_COVER[1]:.0%}")
    for launches, common in ((10, 0.0), (5, 0.0), (1, 0.0), (5, 0.5)):
        latency, per_byte = coverage(generate(2 * CURVES, launches, seed=4, common=common))
        low, high = MUST_COVER
        must = f"must be {low:.0%} to {high:.0%}"
        print(f"launches: {launches}, {common:.0%} common; T_s covered {latency:.1%}, T_c {per_byte:.1%}; {must}")


def share_jumping(curves: Iterable[Generated]) -> float:
    """Of all places at which curves are divided the share that is called a switch, not a bend."""
    called = [found.jumps for each in curves for found in switches(each.curve, segment(each.curve))]
    return sum(called) / len(called)


def share_right(curves: Iterable[Generated]) -> float:
    """The share of curves whose every switch is found at its size, and no other."""
    right = [
        tuple(found.first_bytes for found in switches(each.curve, segment(each.curve))) == each.first_bytes
        for each in curves
    ]
    return sum(right) / len(right)


def coverage(curves: Iterable[Generated]) -> tuple[float, float]:
    """How often the intervals of latency and inverse bandwidth hold the true ones."""
    latency, per_byte, count = 0, 0, 0
    for each in curves:
        found = hockney(regimes(each.curve, segment(each.curve)))
        latency += found.latency.low <= each.latency <= found.latency.high
        per_byte += found.per_byte.low <= each.per_byte <= found.per_byte.high
        count += 1
    return latency / count, per_byte / count
