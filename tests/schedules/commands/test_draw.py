"""`timpani draw` as a user runs it."""

import re
from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.installed import needs_mpi

pytestmark = needs_mpi


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("bcast/binomial", "--ranks", "16", "--size", "1Mi"), "bcast/binomial, 16 ranks, 1 MiB, 4 ticks"),
        (("timpani/allgather/ring", "--ranks", "5"), "allgather/ring, 5 ranks, 1 MiB, 4 ticks"),
        (("gather/knomial:radix=3", "--root", "2", "--timeline"), "gather/knomial:radix=3, 16 ranks, 1 MiB, root 2"),
        (("barrier/dissemination", "--ranks", "8", "--matrix"), "barrier/dissemination, 8 ranks, 3 ticks"),
        (
            ("bcast/three_level", "--ranks", "8", "--nodes", "4", "--groups", "2", "--by", "node"),
            "bcast/three_level, 8 ranks, 4 nodes, 1 MiB, 3 ticks",
        ),
    ],
)
def test_a_figure_says_what_it_shows(tmp_path: Path, arguments: tuple[str, ...], shown: str) -> None:
    answer = typed("draw", *arguments, "-o", str(tmp_path / "figure.svg"))
    assert (answer.returncode, answer.stderr) == (0, "")
    drawn = re.sub("<[^>]+>", " ", (tmp_path / "figure.svg").read_text())
    assert shown in " ".join(drawn.split())  # the title of a narrow figure has several lines


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bcast/binomal",), "did you mean binomial"),
        (("bcst/binomial",), "did you mean bcast?"),
        (("bcast",), "is not an algorithm"),
        (("bcast/knomial:radix=1",), "out of range"),
        (("bcast/binomial", "--root", "16"), "there is no root 16 among 16 ranks"),
        (("allgather/neighbor_exchange", "--ranks", "3"), "applies only where: even"),
        (("bcast/binomial", "--ranks", "1"), "no message is sent"),
        (("bcast/binomial", "--ranks", "4097"), "choose 4096 or fewer"),
        (("bcast/binomial", "--format", "gaol"), "write svg, png, pdf or json"),
        (("bcast/two_level",), "--nodes 4"),
        (("bcast/two_level", "--nodes", "17"), "leave some empty"),
        (("bcast/two_level", "--nodes", "4", "--by", "nod"), "did you mean node?"),
    ],
)
def test_an_impossible_figure_is_refused_in_one_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    answer = typed("draw", *arguments, "-o", str(tmp_path / "figure.svg"))
    assert answer.returncode == 2
    assert said in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert not (tmp_path / "figure.svg").exists()


def test_nothing_is_overwritten_and_a_strange_suffix_is_an_error(tmp_path: Path) -> None:
    there = tmp_path / "there.svg"
    there.write_text("mine")
    answer = typed("draw", "bcast/binomial", "-o", str(there))
    assert answer.returncode == 2
    assert there.read_text() == "mine"
    assert "svg" in typed("draw", "bcast/binomial", "-o", str(tmp_path / "figure.svgg")).stderr
