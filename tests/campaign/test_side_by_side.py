"""Work that waits goes on side by side, and is closed when something fails."""

from collections.abc import Generator, Iterator

import pytest

from timpani.campaign.side_by_side import Waiting, alone, side_by_side


class Watched:
    """Pieces of work that wait some times each; how many were under way together, and how each ended."""

    def __init__(self) -> None:
        self.under_way: set[int] = set()
        self.most = 0
        self.ended: list[int] = []

    def piece(self, number: int, waits: int, fails: bool = False) -> Waiting:
        self.under_way.add(number)
        self.most = max(self.most, len(self.under_way))
        try:
            for _ in range(waits):
                yield
            if fails:
                raise ValueError(f"piece {number}")
        finally:
            self.under_way.remove(number)
            self.ended.append(number)


@pytest.mark.parametrize(("at_once", "together"), [(1, 1), (2, 2), (9, 4)])
def test_all_is_done_with_so_many_under_way(at_once: int, together: int) -> None:
    watched = Watched()
    side_by_side((watched.piece(number, waits=2) for number in range(4)), at_once)
    assert sorted(watched.ended) == [0, 1, 2, 3]
    assert watched.most == together


def test_a_short_piece_makes_room_for_the_next() -> None:
    watched = Watched()
    side_by_side((watched.piece(number, waits) for number, waits in enumerate([9, 0, 0, 1])), 2)
    assert watched.ended == [1, 2, 3, 0]


def test_what_is_asked_for_while_others_run_is_asked_for_late() -> None:
    asked: list[int] = []
    watched = Watched()

    def work() -> Iterator[Waiting]:
        for number in range(3):
            asked.append(len(watched.ended))
            yield watched.piece(number, waits=1)

    side_by_side(work(), 1)
    assert asked == [0, 1, 2]


def test_an_error_in_one_closes_the_others() -> None:
    watched = Watched()
    pieces = (watched.piece(0, waits=99), watched.piece(1, waits=1, fails=True), watched.piece(2, waits=1))
    with pytest.raises(ValueError, match="piece 1"):
        side_by_side(iter(pieces), 2)
    assert watched.ended == [1, 0]
    assert not watched.under_way


def test_one_alone_gives_its_result() -> None:
    def three() -> Generator[None, None, int]:
        yield
        return 3

    assert alone(three()) == 3
