import numpy as np
import pytest

from timpani.errors import UserError
from timpani.models.loggp import RoundTrips, loggp

LATENCY, OVERHEAD, GAP, GAP_PER_BYTE = 1.2, 0.3, 0.5, 2e-4


def trips(noise: float = 0.0, seed: int = 0) -> RoundTrips:
    """Round trips as LogGP predicts them: microseconds."""
    rng = np.random.default_rng(seed)
    times = {}
    for size in (1, 64, 1024, 16384):
        single = 2 * (LATENCY + 2 * OVERHEAD + (size - 1) * GAP_PER_BYTE)
        for messages, delay in ((1, 0.0), (16, 0.0), (16, 2 * single)):
            between = max(OVERHEAD + delay, GAP + (size - 1) * GAP_PER_BYTE)
            times[messages, delay, size] = single + (messages - 1) * between
    return {key: time * (1 + noise * rng.standard_normal()) for key, time in times.items()}


def test_loggp_recovers_its_parameters() -> None:
    found = loggp([trips()])
    estimates = (found.latency, found.overhead, found.gap, found.gap_per_byte)
    assert [each.value for each in estimates] == pytest.approx([LATENCY, OVERHEAD, GAP, GAP_PER_BYTE])
    assert found.small_bytes == 1
    assert np.isnan([each.low for each in estimates]).all()  # one launch


def test_intervals_over_launches_cover_the_parameters() -> None:
    found = loggp([trips(0.001, seed) for seed in range(10)])
    estimates = (found.latency, found.overhead, found.gap, found.gap_per_byte)
    for each, true in zip(estimates, (LATENCY, OVERHEAD, GAP, GAP_PER_BYTE), strict=True):
        assert each.low < true < each.high
        assert each.high - each.low < true / 5


@pytest.mark.parametrize(
    ("kept", "missing"),
    [("several", "of one message"), ("single delayed", "without a delay"), ("single several", "with a delay")],
)
def test_missing_round_trips_are_named(kept: str, missing: str) -> None:
    kinds = {key: "delayed" if key[1] else "single" if key[0] == 1 else "several" for key in trips()}
    with pytest.raises(UserError, match=missing):
        loggp([{key: time for key, time in trips().items() if kinds[key] in kept}])


def test_a_delay_shorter_than_a_message_is_not_used() -> None:
    short = {(16, 0.1, size): time for (messages, delay, size), time in trips().items() if (messages, delay) == (16, 0)}
    without = {key: time for key, time in trips().items() if key[1] == 0}
    with pytest.raises(UserError, match="with a delay"):
        loggp([{**without, **short}])
