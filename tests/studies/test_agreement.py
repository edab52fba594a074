"""Agreement of two tables of times, on small tables worked out by hand."""

import polars as pl
import pytest

from timpani.studies.agreement import agreement, unpaired


def pairs(rows: list[tuple[str, int, int, float, float]]) -> pl.DataFrame:
    """Rows of label, ranks, message_bytes, time_us and published_us."""
    names = ["label", "ranks", "message_bytes", "time_us", "published_us"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(
        collective=pl.lit("bcast"), placement=pl.lit("core")
    )


def test_correlation_is_of_ranks_not_of_values() -> None:
    found = agreement(pairs([("a", 2, 8, 1.0, 5.0), ("a", 4, 8, 2.0, 6.0), ("a", 8, 8, 100.0, 7.0)]))
    assert found.over_ranks["correlation"].to_list() == pytest.approx([1.0])
    assert found.over_sizes["correlation"].to_list() == [None, None, None]


def test_a_flat_series_has_no_order() -> None:
    found = agreement(pairs([("a", 2, 8, 1.0, 5.0), ("a", 4, 8, 1.0, 6.0), ("a", 8, 8, 1.0, 7.0)]))
    assert found.over_ranks["correlation"].to_list() == [None]


def test_the_best_agrees_if_the_fastest_here_is_also_the_fastest_published() -> None:
    found = agreement(
        pairs([("a", 2, 8, 1.0, 5.0), ("b", 2, 8, 2.0, 6.0), ("a", 2, 16, 1.0, 9.0), ("b", 2, 16, 2.0, 6.0)])
    )
    assert found.best["agrees"].to_list() == [1.0, 0.0]
    assert found.best["regret"].to_list() == pytest.approx([0.0, 0.5])
    assert found.agreeing == 0.5
    assert found.by_chance == 0.5


def test_equal_published_times_are_both_the_best() -> None:
    found = agreement(pairs([("a", 2, 8, 2.0, 5.0), ("b", 2, 8, 1.0, 5.0)]))
    assert found.best["agrees"].to_list() == [1.0]
    assert (found.ties, found.by_chance) == (1, 1.0)


@pytest.mark.parametrize(("best", "other"), [("a", "b"), ("b", "a")])
def test_equal_times_here_count_by_their_share_whatever_their_names(best: str, other: str) -> None:
    rows = [(best, 2, size, 1.0, 5.0) for size in (8, 16)] + [(other, 2, size, 1.0, 10.0) for size in (8, 16)]
    found = agreement(pairs(rows))
    assert found.best["agrees"].to_list() == [0.5, 0.5]
    assert found.best["regret"].to_list() == [0.5, 0.5]
    assert (found.agreeing, found.ties) == (0.5, 2)


def test_the_best_constant_answer_is_the_one_to_beat() -> None:
    rows = [(label, 2, size, here, there) for size in (8, 16, 32) for label, here, there in (("a", 1, 9), ("b", 2, 8))]
    found = agreement(pairs([(*row[:3], float(row[3]), float(row[4])) for row in rows]))
    assert (found.agreeing, found.constant) == (0.0, (["b"], 1.0))


def test_one_algorithm_alone_is_no_choice() -> None:
    assert agreement(pairs([("a", 2, 8, 2.0, 5.0)])).agreeing is None


def test_cells_without_a_partner_are_counted_on_both_sides() -> None:
    columns = ["collective", "label", "ranks", "message_bytes", "osu_avg_us"]
    cells = pl.DataFrame([("bcast", "a", 2, size, 1.0) for size in (8, 16, 32)], schema=columns, orient="row")
    published = pl.DataFrame(
        [("bcast", "a", 2, 8, 1.0), ("bcast", "b", 2, 8, 1.0)], schema=[*columns[:4], "published_us"], orient="row"
    )
    left_out = unpaired(cells, published)
    assert left_out["the campaign"].rows() == [("bcast", "a", 2, 2)]
    assert left_out["the published table"].rows() == [("bcast", "b", 2, 1)]
