"""A formula that fits badly: where its residuals are, and the formula that fits better."""

from timpani.models.regression import Regression
from timpani.report.words.fit_words import number
from timpani.study.sizes import show_size


def better_lines(model: Regression) -> list[str]:
    """The mean residuals that show the misfit, and the better formula with its figures; none where none was found."""
    better = model.better
    if better is None:
        return []
    by_size = model.bias_by_size
    lowest, highest = min(by_size, key=lambda each: each[1]), max(by_size, key=lambda each: each[1])
    shown = dict(sorted({by_size[0], lowest, highest, by_size[-1]}))
    means = ", ".join(f"{value:+.3g} at {show_size(size)}" for size, value in shown.items())
    return [
        f"This formula fits badly: its mean residuals of {model.formula.response} are {means}.",
        f"Better: --formula '{better.formula}': R² about mean {better.r_squared:.6f}, AIC {better.aic:.0f}, "
        f"rms error {number(better.error)}",
    ]
