"""Thresholds in what users read come from the constants that decide: no text holds a share or a bound as digits."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import timpani

SOURCE = Path(timpani.__file__).parent
_THRESHOLD = re.compile(r"\d %|\b(0\.97|1\.03)\b")


def texts(code: str) -> Iterator[str]:
    """The texts of a module but for its docstrings."""
    tree = ast.parse(code)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


@pytest.mark.parametrize("room", ["report", "judge", "tune"])
def test_no_text_holds_a_threshold_as_digits(room: str) -> None:
    found = [
        f"{file.name}: {text}"
        for file in (SOURCE / room).rglob("*.py")
        for text in texts(file.read_text())
        if _THRESHOLD.search(text)
    ]
    assert found == []
