"""A budget is spent so that every question has an answer first: properties on drawn studies."""

from itertools import product
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from timpani.campaign.plan.plan import Pass, passes
from timpani.study.cell import Algorithm, Cell
from timpani.study.point_weights import Point

NAMES = ("default", "linear", "chain", "binary", "ring")


@st.composite
def drawn_cells(draw: st.DrawFn) -> list[Cell]:
    """The cells of a study; some algorithms don't exist on some rank counts."""
    sizes = draw(st.lists(st.sampled_from([2**n for n in range(22)]), min_size=1, max_size=9, unique=True))
    ranks = draw(st.lists(st.integers(2, 64), min_size=1, max_size=4, unique=True))
    collectives = draw(st.lists(st.sampled_from(["bcast", "reduce", "gather"]), min_size=1, max_size=2, unique=True))
    placements = draw(st.lists(st.sampled_from(["core", "socket", "node"]), min_size=1, max_size=2, unique=True))
    least = {name: draw(st.sampled_from([2, 2, 2, 4, 32])) for name in NAMES}
    found = [
        Cell(collective, Algorithm("openmpi", name), count, placement, size, "warm")
        for collective, name, count, placement, size in product(collectives, NAMES, ranks, placements, sizes)
        if count >= least[name]
    ]
    return found or [Cell("bcast", Algorithm("openmpi", "default"), 2, "core", 8, "warm")]


def questions(cells: frozenset[Cell] | list[Cell]) -> set[tuple[str, str, str]]:
    return {(cell.collective, str(cell.algorithm), cell.placement) for cell in cells}


def spent(cells: list[Cell], budget: float, starts: float = 1.0, launches: int = 6) -> list[Pass]:
    """The passes where each cell takes a second."""
    return passes(dict.fromkeys(cells, 1.0), starts, launches, 6, budget)


@settings(max_examples=50)
@given(drawn_cells(), st.integers(1, 12), st.sampled_from([1.0, 100.0, 1e5]), st.sampled_from([0.0, 1.0, 100.0]))
def test_every_cell_has_every_launch_once(cells: list[Cell], launches: int, budget: float, starts: float) -> None:
    found = spent(cells, budget, starts, launches)
    measured = sorted((str(cell), launch) for each in found for launch in each.launches for cell in each.cells)
    assert measured == sorted((str(cell), launch) for cell in cells for launch in range(1, launches + 1))


@settings(max_examples=50)
@given(drawn_cells())
def test_competitors_are_measured_together(cells: list[Cell]) -> None:
    for each in spent(cells, 1.0):
        points = {Point.from_cell(cell) for cell in each.cells}
        assert each.cells == {cell for cell in cells if Point.from_cell(cell) in points}


@settings(max_examples=50)
@given(drawn_cells(), st.integers(1, 12))
def test_the_first_pass_answers_every_question_at_few_points(cells: list[Cell], launches: int) -> None:
    """With the launches that a comparison takes, or all if they are fewer."""
    first = spent(cells, 1.0, 0.0, launches)[0]
    assert questions(first.cells) == questions(cells)
    assert list(first.launches) == list(range(1, min(launches, 6) + 1))
    per_place: dict[tuple[str, str], set[Point]] = {}
    for cell in first.cells:
        per_place.setdefault((cell.collective, cell.placement), set()).add(Point.from_cell(cell))
    assert all(len(points) <= len(NAMES) for points in per_place.values())


@settings(max_examples=50)
@given(drawn_cells(), st.integers(0, 2**32))
def test_named_points_are_compared_before_all_others(cells: list[Cell], seed: int) -> None:
    points = sorted({Point.from_cell(cell) for cell in cells}, key=str)
    first = set(Random(seed).sample(points, len(points) // 2))
    found = passes(dict.fromkeys(cells, 1.0), 0.0, 6, 6, 1.0, first)
    are_first = [Point.from_cell(cell) in first for each in found for cell in each.cells]
    assert len(are_first) == len(cells)
    tiers = [{Point.from_cell(cell) in first for cell in each.cells} for each in found]
    assert tiers == sorted(tiers, key=lambda tier: tier == {False})


def test_the_ends_of_sizes_come_before_what_lies_between() -> None:
    cells = [Cell("bcast", Algorithm("openmpi", "default"), 4, "core", 2**n, "warm") for n in range(9)]
    found = [sorted(cell.message_bytes for cell in each.cells) for each in spent(cells, 1.0)]
    assert found == [[1], [256], [4, 16], [2, 8, 32, 64], [128]]


def test_further_launches_come_after_all_sizes() -> None:
    cells = [Cell("bcast", Algorithm("openmpi", "default"), 4, "core", size, "warm") for size in (1, 2)]
    found = [(len(each.cells), list(each.launches)) for each in spent(cells, 1.0, launches=8)]
    assert found == [(1, [1, 2, 3, 4, 5, 6]), (1, [1, 2, 3, 4, 5, 6]), (1, [7, 8]), (1, [7, 8])]
