import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from timpani.stats.sample import bimodal


def sorted_mixture(generator: Generator, share: float, apart: float, n: int = 400) -> NDArray[np.float64]:
    upper = generator.random(n) < share
    return np.sort(np.where(upper, generator.normal(100 * apart, 3, n), generator.normal(100, 3, n)))


@pytest.mark.parametrize("share", [0.15, 0.3, 0.5, 0.85])
def test_separated_modes_are_found(share: float) -> None:
    generator = np.random.default_rng(1)
    assert all(bimodal(sorted_mixture(generator, share, 1.5)) for _ in range(50))


@pytest.mark.parametrize("shape", ["normal", "exponential", "lognormal", "uniform"])
def test_one_broad_or_skewed_mode_is_not_bimodal(shape: str) -> None:
    generator = np.random.default_rng(2)
    draws = {
        "normal": lambda: generator.normal(100, 20, 400),
        "exponential": lambda: generator.exponential(10, 400),
        "lognormal": lambda: generator.lognormal(0, 1, 400),
        "uniform": lambda: generator.uniform(1, 2, 400),
    }
    assert not any(bimodal(np.sort(draws[shape]())) for _ in range(100))


def test_a_few_outliers_are_not_a_mode() -> None:
    assert not bimodal(sorted_mixture(np.random.default_rng(3), 0.04, 20.0))


def test_close_modes_are_not_bimodal() -> None:
    assert not bimodal(np.sort(np.repeat([100.0, 110.0], 200)))


def test_small_samples_are_never_called_bimodal() -> None:
    assert not bimodal(np.repeat([1.0, 9.0], 20))
