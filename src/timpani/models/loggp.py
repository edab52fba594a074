"""LogGP from the parametrized round trip: n messages of s bytes, d apart, and one reply of s bytes.

    PRTT(1, 0, s) = 2·(L + 2·o + (s − 1)·G)
    PRTT(n, 0, s) = PRTT(1, 0, s) + (n − 1)·(g + (s − 1)·G)
    PRTT(n, d, s) = PRTT(1, 0, s) + (n − 1)·(o + d)        where d is longer than a message takes

Source: T. Hoefler, A. Lichei, W. Rehm: Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks,
IPDPS 2007. Each launch gives its own parameters; the intervals are over launches.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from timpani.errors import UserError
from timpani.models.line import Array, estimator
from timpani.stats.interval import Estimate, mean_estimate

RoundTrips = Mapping[tuple[int, float, int], float]
"""One launch's times of whole round trips in microseconds, by (messages, delay in microseconds, message bytes)."""


@dataclass(frozen=True)
class LogGP:
    """LogGP parameters of the network.

    latency        L, microseconds
    overhead       o, microseconds of a processor's time for a message of `small_bytes`
    gap            g, microseconds between messages
    gap_per_byte   G, microseconds a byte
    """

    latency: Estimate
    overhead: Estimate
    gap: Estimate
    gap_per_byte: Estimate
    small_bytes: int
    launches: int


def loggp(launches: list[RoundTrips]) -> LogGP:
    """The parameters, from at least one launch; UserError names missing round trips."""
    found = [_parameters(trips) for trips in launches]
    latency, overhead, gap, gap_per_byte = map(mean_estimate, np.array([values for values, _ in found]).T)
    return LogGP(latency, overhead, gap, gap_per_byte, small_bytes=found[0][1], launches=len(launches))


def _parameters(trips: RoundTrips) -> tuple[tuple[float, float, float, float], int]:
    """L, o, g and G of one launch, and the size at which o was measured."""
    single = {size: time for (messages, delay, size), time in trips.items() if messages == 1 and delay == 0}
    trains = [
        (size, (time - single[size]) / (messages - 1))
        for (messages, delay, size), time in trips.items()
        if messages > 1 and delay == 0 and size in single
    ]
    if not single:
        raise UserError("LogGP lacks round trips of one message", "measure prtt with messages=1,delay_ns=0 too")
    if len({size for size, _ in trains}) < 2:
        raise UserError(
            "LogGP lacks round trips of several messages without a delay at two sizes or more",
            "measure prtt with messages=16,delay_ns=0 too",
        )
    sizes, times = np.array(trains, dtype=np.float64).T
    gap, gap_per_byte = _line(sizes - 1, times)
    # Only a delay longer than a message hides all of it except o.
    delayed = [
        (size, (time - single[size]) / (messages - 1) - delay)
        for (messages, delay, size), time in sorted(trips.items())
        if messages > 1 and delay > gap + (size - 1) * gap_per_byte and size in single
    ]
    if not delayed:
        raise UserError(
            "LogGP lacks round trips of several messages with a delay longer than a message takes",
            "measure prtt with messages=16 and a delay_ns of about a whole round trip too",
        )
    small = min(size for size, _ in delayed)
    overhead = float(np.mean([time for size, time in delayed if size == small]))
    latency = single[small] / 2 - 2 * overhead - (small - 1) * gap_per_byte
    return (latency, overhead, gap, gap_per_byte), small


def _line(x: Array, y: Array) -> tuple[float, float]:
    line = estimator(x, 1 / y**2)
    return float(line.intercept @ y), float(line.slope @ y)
