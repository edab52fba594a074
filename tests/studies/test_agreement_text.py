"""What `timpani compare` prints."""

import polars as pl

from timpani.studies.agreement import Agreement, Unpaired, agreement, agreement_object, agreement_text


def found() -> Agreement:
    """Two algorithms at three rank counts; `b` is the published best at one of them."""
    rows = [("a", 2, 1.0, 5.0), ("a", 4, 2.0, 6.0), ("a", 8, 3.0, 9.0), ("b", 2, 2.0, 7.0), ("b", 4, 4.0, 8.0)]
    rows.append(("b", 8, 6.0, 6.0))
    return agreement(
        pl.DataFrame(rows, schema=["label", "ranks", "time_us", "published_us"], orient="row").with_columns(
            collective=pl.lit("bcast"), placement=pl.lit("core"), message_bytes=pl.lit(8)
        )
    )


NOTHING = pl.DataFrame(schema={"collective": pl.String, "label": pl.String, "ranks": pl.Int64, "sizes": pl.Int64})
PAIRED = Unpaired(NOTHING, NOTHING)


def test_cells_without_a_partner_are_counted_and_named() -> None:
    lacking = pl.DataFrame(
        [("scatter", "linear", 2, 21), ("scatter", "linear", 4, 20)], schema=NOTHING.schema, orient="row"
    )
    *_, last = agreement_text(found(), Unpaired(NOTHING, lacking), "Somebody", simulated=True).splitlines()
    assert last == (
        "Not compared, since only the published table has them: 41 cells: scatter linear on 2, 4 ranks (41)"
    )
    value = agreement_object(found(), Unpaired(NOTHING, lacking), "somebody", simulated=True)
    assert (value["campaign_only"], [row["sizes"] for row in value["published_only"]]) == ([], [21, 20])


def test_the_table_has_a_row_for_each_algorithm() -> None:
    lines = agreement_text(found(), PAIRED, "Somebody", simulated=True).splitlines()
    assert lines[0] == "Simulated OSU averages against published ones: Somebody"
    assert lines[3].split() == ["a", "bcast", "core", "1.00", "1.00", "–", "–", "3"]
    assert lines[4].split() == ["b", "bcast", "core", "-0.50", "-0.50", "–", "–", "3"]


def test_the_share_of_the_best_is_compared_with_chance() -> None:
    *_, place, last = agreement_text(found(), PAIRED, "Somebody", simulated=False).splitlines()
    assert place.startswith("bcast by core: the same best algorithm in 2 of 3 cells")
    assert place.endswith("would take 0 % longer by the published times in the median, 50 % at worst")
    assert last == "Agreement on the best: 67% of 3 cells; always naming a agrees at 67%, by chance 50%."


def test_ties_are_counted_and_named() -> None:
    rows = [("a", 2, 1.0, 5.0), ("b", 2, 1.0, 7.0), ("a", 4, 1.0, 5.0), ("b", 4, 2.0, 7.0)]
    tied = agreement(
        pl.DataFrame(rows, schema=["label", "ranks", "time_us", "published_us"], orient="row").with_columns(
            collective=pl.lit("bcast"), placement=pl.lit("core"), message_bytes=pl.lit(8)
        )
    )
    *_, last = agreement_text(tied, PAIRED, "Somebody", simulated=True).splitlines()
    assert last.startswith("The lowest time is shared, here or in the published table, at 1 cell;")
    assert last.endswith("Without a tie 1 cell agrees.")


def test_json_has_every_cell() -> None:
    value = agreement_object(found(), PAIRED, "somebody", simulated=True)
    assert [place["agrees"] for place in value["best"]] == [1.0, 1.0, 0.0]
    assert [row["correlation"] for row in value["over_sizes"]] == [None] * 6
