"""A page of docs/ as a Jupyter notebook: its text and its Python examples as cells."""

import json
import re
from typing import Any

_EXAMPLE = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def notebook(page: str) -> str:
    """The notebook as JSON (nbformat 4.4, whose cells need no ids)."""
    parts = _EXAMPLE.split(page)  # text and examples alternate
    cells = [_cell("code" if place % 2 else "markdown", part.strip()) for place, part in enumerate(parts)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, source: str) -> dict[str, Any]:
    outputs: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True), **outputs}
