"""Tuning files that a library doesn't follow, as users have them: each is found by confirming, on the real library."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.cli.test_tune import made_up
from tests.cli.typed import typed
from tests.installed import MPICHS, OPEN_MPIS, needs_mpich, needs_open_mpi, needs_two_cores
from timpani.campaign.folder.load import load
from timpani.libraries.catalogue import Parameters
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.native.mpi import Mpi
from timpani.tune.table_file import read_table

RULES_FILE = TunedRules.name
_SWITCH_ON = TunedRules.switch_on


def _wrong_path(self: TunedRules, path: Path, text: str, mpi: Mpi) -> Parameters:
    return _SWITCH_ON(self, path.with_name("elsewhere.conf"), text, mpi)


def _not_switched(self: TunedRules, path: Path, text: str, mpi: Mpi) -> Parameters:
    """As by an mca-params.conf with the file's name alone."""
    return tuple(each for each in _SWITCH_ON(self, path, text, mpi) if each[0] != "coll_tuned_use_dynamic_rules")


def _truncated(text: str) -> str:
    return text[: len(text.rstrip()) * 3 // 4]


def _another_algorithm(text: str) -> str:
    """The rule for SIZE names the algorithm that is one further."""
    return text.replace("\n1024 1 ", "\n1024 2 ")


@needs_open_mpi
@pytest.mark.parametrize("fault", [_wrong_path, _not_switched, _truncated, _another_algorithm])
def test_rules_that_the_library_does_not_follow_are_taken_out(
    fault: Callable[..., Parameters | str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = made_up(tmp_path / "campaign", OPEN_MPIS[0], {"default": 10.0, "linear": 5.0})
    tuned = tmp_path / "tuned"
    assert typed("tune", str(campaign), "-o", str(tuned)).returncode == 0
    if fault in (_wrong_path, _not_switched):
        monkeypatch.setattr(TunedRules, "switch_on", fault)
    else:
        text = (tuned / RULES_FILE).read_text()
        changed = fault(text)
        assert changed != text, text
        (tuned / RULES_FILE).write_text(str(changed))
    done = typed("confirm", str(tuned), "--launches", "1")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "at 1 point the messages or the time are not those of the intended algorithm" in done.stdout
    assert done.stdout.endswith("no rule is left: the library chooses as before\n")
    assert read_table(tuned / "table.json").rules == ()


@needs_mpich
@needs_two_cores
def test_an_algorithm_is_interleaved_with_the_file_that_names_it(tmp_path: Path) -> None:
    """MPICH counts no messages: only times show that a file is followed, and those of one start show most."""
    campaign = made_up(tmp_path / "campaign", MPICHS[0], {"default": 10.0, "binomial": 5.0}, ranks=2)
    tuned = tmp_path / "tuned"
    assert typed("tune", str(campaign), "-o", str(tuned)).returncode == 0
    done = typed("confirm", str(tuned), "--launches", "1")
    assert "1 point with a rule:" in done.stdout, done.stdout + done.stderr
    results = load(tuned / "confirmation-of-1").results.filter(pl.col("message_bytes") == 1024)
    turns = dict(results.select("algorithm", "interleaving").rows())
    assert turns["tuned"] == turns["tuned-binomial"] != turns["default"] == turns["binomial"]
