"""Work that waits runs at the same time, and is closed when something fails."""

from collections.abc import Generator, Iterator

import pytest

from timpani.campaign.run.launch import Task, run_concurrently, run_to_end


class Watched:
    """Pieces of work that wait some times each; how many were under way together, and how each ended."""

    def __init__(self) -> None:
        self.under_way: set[int] = set()
        self.most = 0
        self.ended: list[int] = []

    def piece(self, number: int, waits: int, fails: bool = False) -> Task:
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


@pytest.mark.parametrize(("limit", "together"), [(1, 1), (2, 2), (9, 4)])
def test_all_tasks_end_and_a_limited_number_runs_at_once(limit: int, together: int) -> None:
    watched = Watched()
    run_concurrently((watched.piece(number, waits=2) for number in range(4)), limit)
    assert sorted(watched.ended) == [0, 1, 2, 3]
    assert watched.most == together


def test_a_short_piece_makes_room_for_the_next() -> None:
    watched = Watched()
    run_concurrently((watched.piece(number, waits) for number, waits in enumerate([9, 0, 0, 1])), 2)
    assert watched.ended == [1, 2, 3, 0]


def test_the_next_task_is_requested_when_a_slot_is_free() -> None:
    asked: list[int] = []
    watched = Watched()

    def work() -> Iterator[Task]:
        for number in range(3):
            asked.append(len(watched.ended))
            yield watched.piece(number, waits=1)

    run_concurrently(work(), 1)
    assert asked == [0, 1, 2]


def test_an_error_in_one_closes_the_others() -> None:
    watched = Watched()
    pieces = (watched.piece(0, waits=99), watched.piece(1, waits=1, fails=True), watched.piece(2, waits=1))
    with pytest.raises(ValueError, match="piece 1"):
        run_concurrently(iter(pieces), 2)
    assert watched.ended == [1, 0]
    assert not watched.under_way


def test_one_alone_gives_its_result() -> None:
    def three() -> Generator[None, None, int]:
        yield
        return 3

    assert run_to_end(three()) == 3
