"""Which cells of a campaign are shown."""

import pytest

from tests.campaign_files import cell, raced, results_of
from timpani.campaign.read.study_names import select_cells
from timpani.errors import UserError
from timpani.judge.cell_table import estimate_cells

Typed = tuple[str | None, str | None, str | None, str | None]
CELLS = estimate_cells(
    raced(
        results_of(
            {
                cell(name, size, collective=operation, ranks=ranks): [1.0]
                for operation in ("bcast", "reduce")
                for name in ("default", "ring")
                for ranks in (2, 4)
                for size in (8, 1000, 1024, 65536)
            }
        )
    )
)


@pytest.mark.parametrize(
    ("typed", "count"),
    [
        ((None, None, None, None), 32),
        (("bcast", None, None, None), 16),
        (("bcast", "ring", None, None), 8),
        (("bcast", "ring", "4", None), 4),
        ((None, None, None, "8:1K"), 24),
        (("bcast", "ring", "4", "1K:64K"), 2),
    ],
)
def test_selected_cells_are_kept(typed: Typed, count: int) -> None:
    assert select_cells(CELLS, *typed).height == count


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("bcst", None, None, None), "unknown operation in this campaign 'bcst'; did you mean bcast?"),
        ((None, "rng", None, None), "unknown algorithm in this campaign 'rng'; did you mean ring?"),
        ((None, None, None, "8,16"), "no cell of 16 B"),
        ((None, None, None, "2K:4K"), "no cell of sizes from 2048 to 4096 B"),
    ],
)
def test_a_selection_without_cells_is_reported(typed: Typed, said: str) -> None:
    with pytest.raises(UserError, match=said.replace("?", r"\?")):
        select_cells(CELLS, *typed)
