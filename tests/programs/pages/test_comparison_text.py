"""A program compared with itself under another choice, in sentences."""

from timpani.programs.pages.comparison_text import comparison_lines
from timpani.programs.runs.block_runs import AS_IT_IS, CHOSEN, ProgramComparison
from timpani.stats.compare import compare_blocks


def lines(blocks: int) -> list[str]:
    wall = compare_blocks([2.0 + 0.01 * each for each in range(blocks)], [1.0] * blocks)
    return list(comparison_lines(ProgramComparison(wall, None, {}, {AS_IT_IS: 2.0, CHOSEN: 1.0}, {}, ())))


def test_three_blocks_have_no_interval_and_no_verdict() -> None:
    first, *_ = lines(3)
    assert first == (
        "the program is not yet known to be faster or slower with the choice: "
        "2.010 × as fast (3 blocks, too few: a verdict takes 10), medians 2.000 s and 1.000 s"
    )


def test_ten_blocks_have_an_interval() -> None:
    first, *_ = lines(10)
    assert first.startswith("the program is faster with the choice: 2.045 × as fast (95 % interval 2.0")
    assert ", 10 blocks), medians" in first
