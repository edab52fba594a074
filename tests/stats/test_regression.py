import numpy as np
import pytest

from timpani.errors import UserError
from timpani.stats.curve import Array
from timpani.stats.regression import DEFAULT_FORMULAS, parse_formula, regress


def grid(noise: float = 0.0) -> dict[str, Array]:
    """Latency 1.5·ranks + 0.001·size on the grid of study 3: 2 … 48 ranks by 2 B … 1 MiB."""
    ranks, size = (axis.ravel().astype(float) for axis in np.meshgrid(np.arange(2, 49, 2), 2 ** np.arange(1, 21)))
    latency = 1.5 * ranks + 1e-3 * size
    latency *= 1 + noise * np.random.default_rng(1).standard_normal(latency.shape)
    return {"ranks": ranks, "size": size, "latency": latency}


def test_statistics_agree_with_the_textbook_formulas() -> None:
    columns = grid(noise=0.1)
    formula = parse_formula(DEFAULT_FORMULAS[0], columns)
    found = regress(formula, columns)
    x, y = formula.design(columns), columns["latency"]
    beta = np.linalg.solve(x.T @ x, x.T @ y)
    residuals = y - x @ beta
    variance = residuals @ residuals / (len(y) - 2)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(x.T @ x)))
    assert [each.value for each in found.coefficients] == pytest.approx(beta.tolist())
    assert [each.standard_error for each in found.coefficients] == pytest.approx(errors.tolist())
    assert [each.t for each in found.coefficients] == pytest.approx((beta / errors).tolist())
    assert found.r_squared == pytest.approx(1 - residuals @ residuals / (y @ y))  # about 0: no intercept
    likelihood = -len(y) / 2 * (np.log(2 * np.pi * residuals @ residuals / len(y)) + 1)
    assert found.aic == pytest.approx(2 * 2 - 2 * likelihood)
    assert found.residuals == pytest.approx(residuals)
    assert all(each.low < each.value < each.high for each in found.coefficients)


def test_a_fit_with_an_intercept_is_the_published_one() -> None:
    """The first of Anscombe's four (The American Statistician, 1973), with R's t and p values."""
    size = np.array([10.0, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5])
    latency = np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68])
    columns = {"ranks": np.ones(11), "size": size, "latency": latency}
    found = regress(parse_formula("latency ~ size", columns), columns)
    rows = [(each.value, each.standard_error, each.t, each.p_value) for each in found.coefficients]
    assert rows[0] == pytest.approx((3.0001, 1.1247, 2.667, 0.02573), rel=5e-4)
    assert rows[1] == pytest.approx((0.5001, 0.1179, 4.241, 0.00217), rel=5e-4)
    assert found.r_squared == pytest.approx(0.6665, abs=5e-5)
    slope = found.coefficients[1]
    assert (slope.low, slope.high) == pytest.approx((0.2333701, 0.7668117), rel=1e-6)


def test_an_unseen_rank_count_is_predicted_worse_than_a_seen_one() -> None:
    columns = grid()
    columns["latency"] = columns["latency"] + 3 * (columns["ranks"] > 24)
    found = regress(parse_formula("latency ~ ranks + size", columns), columns)
    assert found.cross_validated_error is not None
    assert found.cross_validated_error > found.error


def test_rows_where_a_term_is_not_defined_are_counted() -> None:
    columns = grid()
    columns["size"][:24] = 0
    found = regress(parse_formula("latency ~ log2(size)", columns), columns)
    assert (found.observations, found.left_out) == (456, 24)
    assert found.sizes.min() > 0


@pytest.mark.parametrize("formula", ["latency ~ ranks + size", "latency ~ ranks - 1 + ranks:ranks + ranks^2"])
def test_collinear_terms_are_refused(formula: str) -> None:
    columns = {name: values[:20] for name, values in grid().items()}
    columns["ranks"] = np.full(20, 4.0)
    with pytest.raises(UserError, match="are too few or too similar"):
        regress(parse_formula(formula, columns), columns)
