import pytest

from timpani.machine.describe import nominal_clock_ghz


@pytest.mark.parametrize(
    ("cpu", "ghz"),
    [
        ("Intel(R) Xeon(R) CPU X5660 @ 2.80GHz", 2.8),
        ("Intel(R) Core(TM)2 Duo CPU @ 3 GHz", 3.0),
        ("AMD EPYC 7H12 64-Core Processor", None),
        ("", None),
    ],
)
def test_a_clock_rate_is_read_from_the_processors_name(cpu: str, ghz: float | None) -> None:
    assert nominal_clock_ghz(cpu) == ghz
