"""`python -m bench` finds its benchmarks: every module of its folder that has `run`."""

from pathlib import Path

import bench
import pytest
from bench import race_ablation
from bench.__main__ import benchmarks, first_line, main


def test_the_list_has_a_whole_sentence_about_each_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--list"])
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == sorted(benchmarks())
    assert all(line.endswith((".", "?")) for line in printed)
    assert not any(line.startswith("command ") for line in printed)  # what benchmarks share has no `run`


def test_an_added_file_is_a_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "planted_benchmark.py").write_text('"""Is it found?"""\n\ndef run() -> None:\n    print("ran")\n')
    monkeypatch.setattr(bench, "__path__", [*bench.__path__, str(tmp_path)])
    assert first_line(benchmarks()["planted_benchmark"]) == "Is it found?"
    main(["planted_benchmark"])
    assert capsys.readouterr().out == "\n== planted_benchmark\nran\n"


def test_the_ablation_replaces_only_what_the_product_has() -> None:
    replaced = [patch for variant in race_ablation.VARIANTS for patch in variant.patches]
    assert replaced
    assert [name for owner, name, _ in replaced if not hasattr(owner, name)] == []
