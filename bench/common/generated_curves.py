"""Curves whose switches, latency and inverse bandwidth are known, to hold the models against."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from timpani.stats.curve import Array, Curve

SIZES: Array = np.asarray(2.0 ** np.arange(23), dtype=np.float64)  # 1 B … 4 MiB
NOISE = 0.02  # standard deviation, relative
DISTURBED = (10.0, 60.0)  # by what factor
_FIRST, _LAST = 6, 20  # switches between 64 B and 1 MiB,
_APART = 4  # … sizes apart
_MOST_SWITCHES = 3


@dataclass(frozen=True)
class Generated:
    """A noisy curve and its true parameters: microseconds, microseconds a byte, bytes."""

    curve: Curve
    latency: float
    per_byte: float
    first_bytes: tuple[int, ...]


def generate(
    count: int,
    launches: int,
    seed: int,
    *,
    switches: int | None = None,
    jumps: tuple[float, float] = (1.1, 3.0),
    common: float = 0.0,
    disturbed: int = 0,
) -> Iterator[Generated]:
    """`count` curves of `launches` launches with 0 to 3 switches, or `switches` of them.

    A jump is a factor within `jumps` up or down. After it, by a coin, the line is the old one times that factor, or one
    with another slope through the same point. `common` is the share of the noise's variance that all launches of a size
    have in common. At `disturbed` sizes one launch takes 10 to 60 times as long.
    """
    rng = np.random.default_rng(seed)
    for _ in range(count):
        number = int(rng.integers(_MOST_SWITCHES + 1)) if switches is None else switches
        latency, per_byte = _log_uniform(rng, 0.2, 50), _log_uniform(rng, 1e-5, 1e-2)
        times, last = latency + per_byte * SIZES, per_byte
        places = _places(rng, number)
        for place in places:
            jump = _log_uniform(rng, *jumps) ** rng.choice([-1, 1])
            if rng.random() < 0.5:
                times[place:] *= jump
                last *= jump
            else:
                value = times[place] * jump
                last = min(last * _log_uniform(rng, 0.3, 3), value / SIZES[place])  # no line starts under 0
                times[place:] = value + last * (SIZES[place:] - SIZES[place])
        noise = np.sqrt(1 - common) * rng.standard_normal((launches, len(SIZES)))
        noise += np.sqrt(common) * rng.standard_normal(len(SIZES))
        measured = times * (1 + NOISE * noise)
        if disturbed:  # others' random numbers stay as they are
            _disturb(rng, measured, disturbed)
        yield Generated(Curve(SIZES, measured).undisturbed, latency, last, tuple(int(SIZES[place]) for place in places))


def _disturb(rng: np.random.Generator, times: Array, sizes: int) -> None:
    for size in rng.choice(len(SIZES), sizes, replace=False):
        times[rng.integers(len(times)), size] *= _log_uniform(rng, *DISTURBED)


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _places(rng: np.random.Generator, number: int) -> list[int]:
    while True:
        places = np.sort(rng.choice(np.arange(_FIRST, _LAST + 1), number, replace=False))
        if number < 2 or np.diff(places).min() >= _APART:
            return [int(place) for place in places]
