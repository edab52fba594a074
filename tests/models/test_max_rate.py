import numpy as np
import pytest

from timpani.models.line import Array
from timpani.models.max_rate import max_rate

LATENCY, CORE, NODE = 0.8, 5000.0, 12000.0  # µs, MB/s


def cells(most: int) -> tuple[Array, Array]:
    senders, sizes = np.meshgrid([k for k in (1, 2, 4, 8) if k <= most], [8, 1024, 65536, 2**20])
    return senders.ravel().astype(np.float64), sizes.ravel().astype(np.float64)


def times(senders: Array, sizes: Array, noise: float = 0.0, seed: int = 0) -> Array:
    exact = LATENCY + senders * sizes / np.minimum(NODE, senders * CORE)
    return np.asarray(exact * (1 + noise * np.random.default_rng(seed).standard_normal((5, len(senders)))))


def test_max_rate_recovers_its_rates() -> None:
    senders, sizes = cells(8)
    found = max_rate(senders, sizes, times(senders, sizes))
    assert found.latency.value == pytest.approx(LATENCY, rel=1e-3)
    assert found.core_rate.value == pytest.approx(CORE, rel=1e-3)
    assert found.node_rate is not None
    assert found.node_rate.value == pytest.approx(NODE, rel=1e-3)
    assert found.senders == 8


def test_intervals_of_rates_have_their_nominal_coverage() -> None:
    senders, sizes = cells(8)
    found = [max_rate(senders, sizes, times(senders, sizes, noise=0.01, seed=seed)) for seed in range(40)]
    assert all(each.node_rate for each in found)
    for name, true in (("latency", LATENCY), ("core_rate", CORE), ("node_rate", NODE)):
        held = [getattr(each, name).low < true < getattr(each, name).high for each in found]
        assert sum(held) >= 34  # fewer than one time in 1,000 at 95 %


def test_a_node_rate_that_was_not_reached_is_missing() -> None:
    senders, sizes = cells(2)
    found = [max_rate(senders, sizes, times(senders, sizes, noise=0.01, seed=seed)) for seed in range(40)]
    assert sum(each.node_rate is not None for each in found) <= 3
