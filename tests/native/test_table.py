"""Tables of the native sources, read as text."""

import pytest

from timpani.native_sources import Row, read_table

HEAD = """\
// A table.
#ifndef FRUIT
#define FRUIT(name, grams, colors, taste)
#endif
"""


def test_rows_are_calls_over_one_or_more_lines() -> None:
    rows = read_table(
        HEAD + '// Ripe ones.\nFRUIT(apple, 150, (red, green), "sweet, or not")\nFRUIT(pear, 120, (),\n "")\n'
    )
    assert rows == [
        Row("FRUIT", {"name": "apple", "grams": 150, "colors": ("red", "green"), "taste": "sweet, or not"}),
        Row("FRUIT", {"name": "pear", "grams": 120, "colors": (), "taste": ""}),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        "FRUIT(apple, 150, (red))",
        'FRUIT(apple, 150, (red), "sweet", more)',
        'VEGETABLE(leek, 100, (green), "leek")',
        'FRUIT(apple, 100 + 50, (red), "sweet")',
        'FRUIT(apple, 150, (red), taste="sweet")',
        "apple",
        'FRUIT(apple, 150, (red), "sweet',
    ],
)
def test_an_invalid_row_is_refused_with_its_line(wrong: str) -> None:
    with pytest.raises((ValueError, SyntaxError), match="line 5"):
        read_table(HEAD + wrong + "\n")
