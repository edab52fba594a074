"""What a race found where it only looked: at sizes and rank counts between those that it raced."""

import polars as pl

from timpani.study.schema import ALGORITHM, POINT, schema
from timpani.tuning.race_between import is_slower
from timpani.tuning.raced import point_of, race_of, race_standings


def unfit_where_looked(results: pl.DataFrame) -> pl.DataFrame:
    """POINT and ALGORITHM of what nobody should choose where the race of `results` only looked: what seems to take over
    5 % longer than another there, is bounded to be slower than the default, or failed."""
    race = race_of(results)
    looked_at = race_standings(results).filter(~pl.col("race_complete"))
    rows: list[tuple[object, ...]] = []
    for point in map(point_of, looked_at.iter_rows(named=True)) if race else ():
        assert race
        standing = race.standing(point)
        default = next((each for each in standing.excess if each.is_default), None)
        for each in race.taking_part(point):
            failed = each not in standing.excess
            beside = race.ratio(point, default, each) if default and not failed else None
            if failed or is_slower(standing, [each]) or (beside and beside.high < 1):
                rows.append((*(getattr(point, name) for name in POINT), each.provider, each.name, each.parameter_text))
    return pl.DataFrame(rows, schema=schema(*POINT, *ALGORITHM), orient="row")
