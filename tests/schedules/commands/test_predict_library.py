"""`timpani predict` of a library's algorithms, on a campaign in which they send as Timpani's schedules do."""

import json
from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.installed import OPEN_MPIS, needs_open_mpi
from tests.schedules.commands.test_tune_predicted import made_up

pytestmark = needs_open_mpi


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Broadcasts of 8 B, 1 KiB and 64 KiB, by Timpani's algorithms, the library's `binomial` and default."""
    return made_up(tmp_path_factory.mktemp("with costs") / "a campaign")


def test_an_algorithm_of_the_library_is_predicted_by_the_schedule_that_it_sent(campaign: Path, tmp_path: Path) -> None:
    asked = ("--ranks", "20,64", "--sizes", "8,512,64Ki,1Mi", "--costs", campaign)
    done = typed("predict", "bcast", *asked, "--format", "json", "-o", tmp_path / "page")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    binomial = f"{OPEN_MPIS[0].kind}/binomial"
    rows = {(row["label"], row["ranks"], row["message_bytes"]): row for row in found["predictions"]}
    at = {(ranks, size) for label, ranks, size in rows if label == binomial}
    assert at == {(ranks, size) for ranks in (20, 64) for size in (8, 512, 64 << 10)}
    for ranks, size in at:
        ours, its = rows["timpani/binomial", ranks, size], rows[binomial, ranks, size]
        assert ours["sends_as"] is None
        assert "timpani/binomial" in its["sends_as"].split(" or ")  # circulant sends the same on powers of two
        assert its["predicted_us"] == pytest.approx(ours["predicted_us"], rel=0.05)
        assert (its["low_us"], its["high_us"]) == pytest.approx((ours["low_us"], ours["high_us"]), rel=0.05)
    assert any(f"bcast {binomial} is predicted by timpani/binomial" in text for text in found["conditions"])
    left_out = " ".join(found["left_out"])
    assert f"bcast {binomial} at 1 MiB: its messages were counted at 3 sizes from 8 B to 64 KiB only" in left_out
    assert "default: its algorithm may change with the rank count" in left_out

    report = typed("report", campaign, "--predicted", tmp_path / "page", "-o", tmp_path / "report.html")
    assert report.returncode == 0, report.stderr
    assert (
        "Of 10 cells (predicted, ranks placed by core, by costs of " in report.stdout
    )  # Timpani's and the library's, on 20 ranks, at two sizes


def test_timpanis_algorithms_or_one_of_the_librarys_can_be_predicted(campaign: Path) -> None:
    asked = ("predict", "bcast", "--ranks", "64", "--sizes", "8", "--costs", campaign, "--format", "json")
    kind = OPEN_MPIS[0].kind
    ours = json.loads(typed(*asked, "--algorithms", "timpani/all").stdout)
    assert {row["provider"] for row in ours["predictions"]} == {"timpani"}
    assert not any(kind in text for text in ours["left_out"])
    one = json.loads(typed(*asked, "--algorithms", f"{kind}/binomial,linear").stdout)
    assert [row["label"] for row in one["predictions"]] == ["timpani/linear", f"{kind}/binomial"]
    unknown = typed(*asked, "--algorithms", f"{kind}/chain")
    assert (unknown.returncode, unknown.stderr.count("\n")) == (2, 1)
    assert f"{kind}/chain can't be predicted: its messages were not counted" in unknown.stderr
    default = typed(*asked, "--algorithms", f"{kind}/default")
    assert (default.returncode, default.stderr.count("\n")) == (2, 1)
    assert "its algorithm may change with the rank count" in default.stderr


def test_an_algorithm_whose_messages_fit_several_schedules_may_take_as_long_as_any(tmp_path: Path) -> None:
    """On four ranks a binomial broadcast sends what a binary tree does."""
    campaign = made_up(tmp_path / "four", ranks=(2, 4), proved_at=(4,))
    asked = ("--ranks", "1024", "--sizes", "8", "--costs", campaign, "--format", "json")
    found = {row["label"]: row for row in json.loads(typed("predict", "bcast", *asked).stdout)["predictions"]}
    its = found[f"{OPEN_MPIS[0].kind}/binomial"]
    for name in ("timpani/binary", "timpani/binomial"):
        assert name in [each.split(":")[0] for each in its["sends_as"].split(" or ")]
        assert its["low_us"] < 1.05 * found[name]["low_us"]
        assert its["high_us"] > 0.95 * found[name]["high_us"]
    assert found["timpani/binomial"]["predicted_us"] < its["predicted_us"] < found["timpani/binary"]["predicted_us"]
