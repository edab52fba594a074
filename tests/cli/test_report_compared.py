"""`timpani report A B`: one page of two campaigns, as a user sees it."""

import re
from pathlib import Path

import pytest

from tests.cli.test_compare import campaign
from tests.cli.typed import typed
from tests.judge.campaigns import around
from tests.report.page.test_page import Page


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("pair")
    first = {"default": {8: around(2.0), 16: around(1.0), 32: around(1.0)}, "chain": {8: around(1.0)}}
    second = {"default": {8: around(1.0), 16: around(3.0), 32: around(1.0)}, "<ring>": {8: around(1.0)}}
    old, new = {"kind": "openmpi", "version": "4.1.4"}, {"kind": "mpich", "version": "4.2.3"}
    return campaign(folder / "a", first, mpi=old), campaign(folder / "b", second, mpi=new)


def test_one_page_has_what_changed_the_figure_and_both_campaigns(pair: tuple[Path, Path]) -> None:
    written = pair[0] / "compared-with-b.html"
    done = typed("report", *pair)
    assert (done.returncode, done.stdout) == (0, f"{written}\n"), done.stderr
    page = Page(written.read_text())
    said = typed("compare", *pair).stdout
    [counts] = [line for line in said.splitlines() if line.startswith("Of 3 cells")]
    assert counts in page.text
    assert "MPI library Open MPI 4.1.4 MPICH 4.2.3" in page.text
    assert "Time in A over time in B" in page.text
    assert "default, 2 ranks" in page.text  # a panel of the figure
    for name, folder in zip("AB", pair, strict=True):
        assert f"{name}: {folder}" in page.text
        assert f"{name} alone Verdict: " in page.text
    assert "Slower in B (1)" in page.text
    assert "Faster in B (1)" in page.text
    assert "Only A has times for 1 cell (1) bcast chain (1)" in page.text
    assert "Only B has times for 1 cell (1) bcast <ring> (1)" in page.text  # as text, not as a tag
    tags = {tag for tag, _ in page.elements}
    assert {"svg", "table"} <= tags
    assert "script" not in tags
    references = [value for _, values in page.elements for name, value in values.items() if name in ("src", "href")]
    assert not [each for each in references if each and not each.startswith("#")]
    assert not re.search(r"url\((?!#)", written.read_text())
    before = written.read_bytes()
    again = typed("report", *pair)
    assert (again.returncode, "exists already" in again.stderr, written.read_bytes()) == (2, True, before)
