"""What readings say about reproducible results: planted readings, and the sentences that follow."""

from dataclasses import replace

from tests.order.test_tree import chain
from timpani.order.reading import Order, Reading, Run
from timpani.order.reproducibility import Reproducibility
from timpani.study.cell import Algorithm, Cell

BUTTERFLY = ((0, 1), (2, 3))


def reading(
    *orders: Order, collective: str = "allreduce", size: int = 64, ranks: int = 4, launch: int = 1, root: int = 0
) -> Reading:
    cell = Cell(collective, Algorithm("openmpi", "default"), ranks, "core", size, "warm")
    runs = tuple(Run(size // 8 // len(orders), order) for order in orders)
    results = tuple(runs if collective == "allreduce" or rank == root else () for rank in range(ranks))
    return Reading(cell, root, launch, results)


def test_a_constant_order_is_reproducible() -> None:
    facts = Reproducibility.of_readings(
        [reading(BUTTERFLY), reading(BUTTERFLY, size=128), reading(BUTTERFLY, launch=2)]
    )
    assert facts.same_on_all_ranks
    assert facts.depends_on["the message size"] == facts.depends_on["the launch"] == ""
    assert facts.depends_on["the placement"] is None
    assert (facts.depths, facts.in_rank_order) == ({4: 2}, True)
    assert "allreduce: the order of addition is the same in 3 readings." in facts.text


def test_each_dependence_is_found_where_it_is() -> None:
    linear = chain(4)
    of_size = Reproducibility.of_readings([reading(BUTTERFLY), reading(linear, size=128), reading(linear, size=256)])
    assert of_size.depends_on["the message size"] == "on 4 ranks between 64 B and 128 B"
    short = reading(BUTTERFLY)
    parts = [replace(short, results=(*short.results[:count], *(4 - count) * ((),))) for count in (1, 4)]
    larger = replace(parts[1], cell=replace(short.cell, message_bytes=128))
    assert Reproducibility.of_readings([parts[0], larger]).depends_on["the message size"] == ""
    of_position = Reproducibility.of_readings([reading(BUTTERFLY, linear)])
    assert of_position.depends_on["the position in the vector"] == "4 ranks, 64 B"
    for again in (reading(linear, launch=2), replace(reading(BUTTERFLY, launch=2), results=(*short.results[:3], ()))):
        of_launch = Reproducibility.of_readings([short, again])
        assert of_launch.depends_on["the launch"] == "on 4 ranks at 64 B between 1 and 2"
    roots = [reading(BUTTERFLY, collective="reduce"), reading(linear, collective="reduce", root=2)]
    of_root = Reproducibility.of_readings(roots)
    assert of_root.depends_on["the root"] == "on 4 ranks at 64 B between 0 and 2"
    assert of_root.same_on_all_ranks is None
    assert "the launch, further ranks that contribute zeros, further roots on 4 ranks." in of_root.text
    all_roots = [reading(BUTTERFLY, collective="reduce", root=root) for root in range(4)]
    of_all = Reproducibility.of_readings(all_roots)
    assert of_all.depends_on["the root"] == ""
    assert "further roots" not in of_all.text
    segments = [
        replace(each, cell=replace(each.cell, algorithm=Algorithm("openmpi", "ring", (("segment_bytes", size),))))
        for size, each in ((16, reading(linear)), (32, reading(linear, linear)), (64, reading(BUTTERFLY)))
    ]
    assert Reproducibility.of_readings(segments[:2]).depends_on["its parameters"] == ""
    where = "on 4 ranks at 64 B between segment_bytes=32 and segment_bytes=64"
    assert Reproducibility.of_readings(segments).depends_on["its parameters"] == where
    more = Reproducibility.of_readings([reading((0, 1), ranks=2), reading(((0, 2), (1, 3)))])
    assert more.depends_on["further ranks that contribute zeros"] == ""
    other = Reproducibility.of_readings([reading(chain(3), ranks=3), reading(((0, (1, 2)), 3))])
    assert other.depends_on["further ranks that contribute zeros"] == "between 3 and 4"
    assert not more.in_rank_order


def test_ranks_with_different_orders_and_sums_without_one_are_reported() -> None:
    differing = reading(BUTTERFLY)
    planted = Reading(differing.cell, 0, 1, (*differing.results[:3], (Run(8, chain(4)),)))
    assert Reproducibility.of_readings([planted]).same_on_all_ranks is False
    assert not differing.same_bits(planted)
    unreadable = reading("sums are exact")
    assert not unreadable.same_bits(unreadable)
    assert Reproducibility.of_readings([unreadable]).text == "allreduce: the order can't be read: sums are exact."
    partly = Reproducibility.of_readings([differing, unreadable])
    assert partly.depends_on["the message size"] is None
    assert (partly.readings, partly.same_on_all_ranks) == (1, True)
