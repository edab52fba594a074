"""What can't be in a table of times: planted in small ones, and found in those that were published."""

import polars as pl
import pytest

from timpani.campaign.read.doubts import Conditions, doubts

SIZES = [2**power for power in range(21)]
RANKS = (2, 4, 8, 16)


def table(**curves: float) -> pl.DataFrame:
    """Times of `<collective>_<label>` that grow with size and ranks, each with another factor."""
    return pl.DataFrame(
        [
            (*name.split("_", 1), ranks, size, factor * (1 + size / 1000) * ranks)
            for name, factor in curves.items()
            for ranks in RANKS
            for size in SIZES
        ],
        schema=["collective", "label", "ranks", "message_bytes", "time_us"],
        orient="row",
    )


def changed(times: pl.DataFrame, label: str, size: int, ranks: int, time: float) -> pl.DataFrame:
    here = (pl.col("label") == label) & (pl.col("message_bytes") == size) & (pl.col("ranks") == ranks)
    return times.with_columns(pl.when(here).then(time).otherwise("time_us").alias("time_us"))


PLAIN = table(bcast_default=1.0, bcast_chain=1.3, scatter_default=1.7, scatter_binomial=1.6)


def test_a_possible_table_has_no_doubts() -> None:
    port = Conditions(ranks_per_node=8, port=1e4, port_source="10 GB/s", whole=("scatter",))
    assert doubts(PLAIN, port) == []


@pytest.mark.parametrize(("time", "said"), [(1e-7, "under a nanosecond"), (1e9, "over a minute a call")])
def test_times_that_no_call_takes_come_first(time: float, said: str) -> None:
    first = doubts(changed(PLAIN, "chain", 64, 4, time))[0]
    assert first.kind == "impossible"
    assert first.text.startswith("bcast chain on 4 ranks, 64 B: ")
    assert said in first.text


def test_a_scatter_that_is_the_broadcast_is_found() -> None:
    (doubt,) = doubts(table(bcast_default=1.0, scatter_default=1.01))
    assert (doubt.kind, doubt.cells) == ("same_curve", 3 * 21)
    assert "scatter and bcast times of default are almost identical (median ratio 1.01 over 63 cells" in doubt.text


def test_linear_scatters_and_broadcasts_send_the_same_messages() -> None:
    assert doubts(table(bcast_linear=1.0, scatter_linear=1.0)) == []


def test_more_than_a_port_takes_is_found_where_data_cross_it() -> None:
    port = Conditions(ranks_per_node=8, port=250.0, port_source="250 MB/s (a slow one)")
    (doubt,) = doubts(table(scatter_default=0.4), port)
    # 8 blocks of 1 MiB through the port take 33,554 µs, the average rank half of that; the table has 6,717 µs.
    assert doubt.kind == "over_the_port"
    assert "1 MiB to each of 16 ranks in 6,717 µs is 2.34 GB/s out of one root" in doubt.text
    assert "need at least 33,554 µs at the port, 250 MB/s (a slow one)" in doubt.text
    assert doubts(table(scatter_default=0.4), Conditions(ranks_per_node=16, port=250.0)) == []


def test_a_message_can_t_be_faster_than_the_port() -> None:
    times = table(bandwidth_default=1.0).filter(ranks=2)
    (doubt,) = doubts(times, Conditions(port=400.0, port_source="0.4 GB/s"))
    assert "bandwidth is faster than the port, 0.4 GB/s, at 9 sizes: 1 MiB in 2,099 µs is 0.5 GB/s" in doubt.text
    assert doubts(times, Conditions(port=600.0, port_source="0.6 GB/s")) == []


def test_a_default_can_t_beat_all_that_it_chooses_among() -> None:
    times = changed(PLAIN, "default", 8, 16, 1.0)
    assert (
        doubts(times.filter(collective="scatter"), Conditions(whole=("scatter",)))[0].kind == "faster_than_its_choices"
    )
    assert "faster_than_its_choices" not in {each.kind for each in doubts(times)}  # the library may have others


def test_a_time_with_the_digits_of_its_size_is_found() -> None:
    (doubt,) = [
        each for each in doubts(changed(PLAIN, "binomial", 2**20, 4, 1048.576)) if each.kind == "prints_its_size"
    ]
    assert "scatter binomial on 4 ranks, 1 MiB: the time reads 1048.576" in doubt.text


@pytest.mark.parametrize(("size", "ranks", "kind"), [(64, 4, "falls_with_message_bytes"), (64, 4, "falls_with_ranks")])
def test_times_that_fall_by_factors_are_found(size: int, ranks: int, kind: str) -> None:
    found = {each.kind: each for each in doubts(changed(PLAIN, "chain", size, ranks, 100.0))}
    assert (found[kind].cells, "bcast chain: 100 µs at 64 B on 4 ranks" in found[kind].text) == (1, True)


def test_times_that_rounding_decides_are_counted() -> None:
    (doubt,) = doubts(changed(PLAIN, "chain", 1, 2, 0.15).filter(pl.col("ranks") == 2))
    assert (doubt.kind, doubt.cells) == ("coarse", 1)
    assert "at 1 cell rounding alone is over 3 %, at most 3.3 % in bcast chain at 1 B" in doubt.text
