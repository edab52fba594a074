"""Under which name a published algorithm is looked for in a campaign."""

import pytest

from timpani.libraries.registry import counterpart
from timpani.study.cell import Algorithm


@pytest.mark.parametrize(
    ("collective", "name", "kind", "expected"),
    [
        ("bcast", "default", "simgrid", "simgrid/default"),
        ("bcast", "basic_linear", "simgrid", "simgrid/flattree"),
        ("bcast", "knomial", "simgrid", "timpani/knomial"),
        ("scatter", "basic_linear", "simgrid", "simgrid/ompi_basic_linear"),
        ("bcast", "basic_linear", "openmpi", "openmpi/linear"),
        ("bcast", "binary_tree", "openmpi", "openmpi/binary"),
        ("bcast", "knomial", "openmpi", "openmpi/knomial"),
    ],
)
def test_a_published_algorithm_has_a_counterpart(collective: str, name: str, kind: str, expected: str) -> None:
    assert str(counterpart(collective, Algorithm("openmpi", name), kind)) == expected
