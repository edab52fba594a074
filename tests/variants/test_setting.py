"""The setting of a table: which one a campaign shows, what its files hold, and whether it keeps its promise."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaign_files import cell, machine, made_up, results_of, variants
from tests.tune.confirm.test_confirmation import STUDY
from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import Rule, SelectionTable, WrittenSetting
from timpani.tune.confirmation import confirm
from timpani.tune.confirmation_study import confirmation_study
from timpani.tune.confirmation_text import confirmed_document, setting_lines
from timpani.tune.from_campaign import setting_of, table_of
from timpani.tune.setting_check import losing, setting_points
from timpani.tune.tuned_files import MODULE, SWITCH_OFF, SWITCH_ON, tuned_files

MPI = Mpi("openmpi", "Open MPI", "4.1.4", Path("/usr/bin/mpirun"), Path("/usr/bin/mpicxx"), None, ())
EAGER = "--mca btl_vader_eager_limit 65536 UCX_TLS=sm"
SETTING = WrittenSetting("eager", EAGER, 2, 2, 2.0)
NOWHERE = Catalogue(MPI.kind, MPI.version, {})

Times = Mapping[tuple[str, str, int], float]
"""By algorithm, variant and size."""


def campaign(times: Times, settings: Mapping[str, str] | None = None, **recorded: object) -> Campaign:
    taken = {cell(f"{name}@{variant}", size): time for (name, variant, size), time in times.items()}
    offered = variants(settings or {"eager": EAGER}, **recorded)
    return made_up(results_of(taken, machine="m"), machine=machine(1), study=STUDY, variants=offered)


def of_setting(at_64: float, at_1024: float, variant: str = "eager") -> dict[tuple[str, str, int], float]:
    """The default takes 10 µs, with the setting as given."""
    default = {("default", "default", size): 10.0 for size in (64, 1024)}
    return {**default, ("default", variant, 64): at_64, ("default", variant, 1024): at_1024}


def test_a_setting_that_wins_somewhere_and_loses_nowhere_is_written() -> None:
    setting, others = setting_of(campaign(of_setting(10.0, 5.0)))
    assert setting is not None
    assert (setting.name, setting.settings, setting.points, setting.faster) == ("eager", EAGER, 2, 1)
    assert setting.gain == pytest.approx(2**0.5, rel=0.01)
    assert others == ()


def test_a_setting_that_loses_somewhere_is_named_and_not_written() -> None:
    setting, (why,) = setting_of(campaign(of_setting(20.0, 5.0)))
    assert setting is None
    assert "faster at 1 of 2 points and slower at 1" in why


def test_a_faster_setting_that_changed_nothing_is_named_and_not_written() -> None:
    times = of_setting(5.0, 5.0)
    setting, (why,) = setting_of(campaign(times, {"eager": "--mca btl_vader_eager_limit 4096"}, changed=()))
    assert setting is None
    assert "it is not written, since it changed no control variable of the library" in why


def test_of_two_that_win_the_larger_gain_is_written() -> None:
    times = of_setting(9.0, 9.0) | of_setting(5.0, 5.0, "better")
    setting, (why,) = setting_of(campaign(times, {"eager": EAGER, "better": "--mca btl ^tcp"}))
    assert setting is not None
    assert setting.name == "better"
    assert why.endswith("better gains more on average")


def test_rules_are_those_measured_with_the_setting() -> None:
    times = of_setting(5.0, 5.0)
    for size in (64, 1024):
        times |= {("ring", "default", size): 4.0, ("ring", "eager", size): 5.0, ("linear", "eager", size): 2.0}
    table = table_of(campaign(times), [Path("made")])
    assert table.variant == "eager"
    assert [str(rule.algorithm) for rule in table.rules] == ["openmpi/linear"]
    assert all(each.gain == pytest.approx(2.5) for each in table.rules[0].evidence)


def test_all_files_hold_the_setting(tmp_path: Path) -> None:
    files = tuned_files(SelectionTable("openmpi", "4.1.4", (), setting=SETTING), MPI, NOWHERE, tmp_path)
    assert files.settings == {"UCX_TLS": "sm", "OMPI_MCA_btl_vader_eager_limit": "65536"}
    assert "export OMPI_MCA_btl_vader_eager_limit=65536" in files.texts[SWITCH_ON]
    assert "UCX_TLS" in files.texts[SWITCH_OFF]
    assert "UCX_TLS" in files.texts[MODULE]
    parameters = files.texts["mca-params.conf"].splitlines()
    assert "btl_vader_eager_limit = 65536" in parameters
    assert "# UCX_TLS=sm is no parameter: set it in the environment." in parameters


def test_the_confirmation_measures_the_setting_as_a_variant(tmp_path: Path) -> None:
    made = campaign(of_setting(5.0, 5.0))
    table = table_of(made, [Path("made")])
    study = confirmation_study(table, made, tmp_path, None)
    assert list(study.variants) == ["eager"]
    assert dict(study.collectives) == {"bcast": ("default",)}
    with pytest.raises(UserError, match="no rule to confirm"):
        confirmation_study(replace(table, setting=None), made, tmp_path, None)


RULED = SelectionTable("openmpi", "4.1.4", (Rule("bcast", Algorithm("openmpi", "ring")),), setting=SETTING)


def measured(setting: float, rules: float, both: float) -> Campaign:
    times: dict[tuple[str, str, int], float] = {}
    for size in (64, 1024):
        times |= {
            ("default", "default", size): 10.0,
            ("default", "eager", size): setting,
            ("tuned", "default", size): rules,
            ("tuned", "eager", size): both,
            ("ring", "eager", size): both,
        }
    return campaign(times)


def test_setting_and_rules_are_compared_alone_and_together() -> None:
    points = setting_points(RULED, measured(8.0, 5.0, 4.0))
    gains = {each.what: each.gain.ratio for each in points if each.message_bytes == 64}
    assert gains == {"the setting alone": 1.25, "the rules alone": 2.0, "both": 2.5}
    lines = list(setting_lines(points))
    assert lines[0].startswith("both: 2.50 times as fast")
    assert "significantly faster at 2 and slower at 0" in lines[0]
    assert len(lines) == 3
    assert not losing(points)
    document = confirmed_document(RULED, [], measured(8.0, 5.0, 4.0), [], setting=points)
    assert [each.text for each in document["setting_points"].column("switched on")].count("both") == 2


def test_rules_are_confirmed_against_the_default_with_the_setting() -> None:
    gains = {
        each.gain.ratio for each in confirm(RULED, campaign(of_setting(8.0, 8.0)), measured(8.0, 5.0, 4.0)) if each.gain
    }
    assert gains == {2.0}


def test_a_setting_that_is_slower_alone_loses() -> None:
    points = setting_points(RULED, measured(12.0, 5.0, 4.0))
    assert {each.what for each in losing(points)} == {"the setting alone"}
    assert list(setting_lines(points))[-1] == "the setting alone is slower: bcast at 64 B, bcast at 1 KiB"
    assert setting_points(replace(RULED, setting=None), measured(12.0, 5.0, 4.0)) == []
