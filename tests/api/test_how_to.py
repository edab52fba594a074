"""The examples of docs/how-to/use-from-python.md run, one after the other."""

import re
from pathlib import Path

import pytest

from tests.installed import needs_mpi, needs_two_cores

PAGE = Path(__file__).parents[2] / "docs/how-to/use-from-python.md"


@needs_mpi
@needs_two_cores
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    exec(compile(code, str(PAGE), "exec"), {})
    printed = capsys.readouterr().out
    assert "median_us" in printed
    assert "<campaign 'mine': allreduce, " in printed
    assert "vegaEmbed" in (page := (tmp_path / "first.html").read_text())
    assert 'src="http' not in page
