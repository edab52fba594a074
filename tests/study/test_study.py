"""Study files and the command line: what can be used is read, what can't is said on one line."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.cli.terminal.named_campaigns import folder_of_today
from timpani.errors import UserError
from timpani.stats.regret import ANALYSES
from timpani.study.compose import compose
from timpani.study.study import Study, read_study
from timpani.study.values import parse_duration

GOOD = """
title = "A title with $(touch x), \\u001b[31m and «quotes»"
ranks = "2:8"
sizes = [1024, 8, 8]
slot = "20ms"
budget = "2 min"

[collectives]
bcast = "all"
reduce = ["default", "openmpi/chain:fanout=4"]
"""


def study_file(folder: Path, text: str | bytes) -> Path:
    path = folder / "study.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_study_file_is_read(tmp_path: Path) -> None:
    study = read_study(study_file(tmp_path, GOOD))
    assert study.title == "A title with $(touch x), \x1b[31m and «quotes»"
    assert study.ranks == (2, 4, 8)
    assert study.sizes == (8, 1024)  # each once: a cell is measured once in a launch
    assert (study.slot, study.budget) == (0.02, 120.0)
    assert study.collectives == {"bcast": ("all",), "reduce": ("default", "openmpi/chain:fanout=4")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rank = [2]", "unknown key in {path} 'rank'; did you mean ranks"),
        ('"a\\nb" = 1', "unknown key in {path} 'a\\nb'"),
        ("", 'collectives is missing; write a table such as bcast = "all"'),
        ("ranks = []", "ranks"),
        ("ranks = [0]", "ranks.0"),
        ('ranks = "0"', "'0' has a rank count below 1"),
        ("sizes = []", "sizes"),
        ("sizes = [-1]", "sizes.0"),
        ("sizes = [1099511627777]", "sizes.0"),
        ('sizes = "8x"', "{path}: '8x' is not a size"),
        ('collectives = ["bcast"]', "collectives must be a table; write [collectives]"),
        ("[collectives]", "the study names no collective"),
        ("[collectives]\nbcst = 'all'", "unknown operation 'bcst'; did you mean bcast"),
        ("[collectives]\nbcast = []", "bcast has no algorithm"),
        ("[collectives]\nbcast = 3", "collectives.bcast"),
        ("[collectives]\nbcast = ['ring ring']", "'ring ring' is not an algorithm"),
        ("ranks = 'abc'", "'abc' is not a rank count; write for example 2,4,8"),
        ("ranks = 0", "ranks.0 can't be 0; write whole numbers from 1"),
        ("launches = 0", "launches can't be 0; write a whole number from 1 to 10000"),
        ("precision = nan", "precision"),
        ("precision = 1", "precision"),
        ("slot = nan", "slot"),
        ("slot = '20 parsecs'", "'20 parsecs' is not a duration"),
        ("budget = -1", "budget"),
        ("seed = -1", "seed"),
        ("placement = 'moon'", "placement"),
        ("mode = ['warm']", "mode"),
        ("datatype = 'dobule'", "datatype"),
        ("datatype = 'double'\nsizes = [8, 12]", "12 B is not a multiple of 8 B, the size of double"),
        ("repetitions = 10", "only by the osu method"),
        ("method = 'osu'\nrepetitions = 0", "repetitions"),
        ("pairs = 'some'", "pairs"),
        ("[overrides.bcast]\nsizes = 'x'", "'x' is not a size"),
        ("[overrides.bcast]\nprecision = 2", "unknown key in {path}: overrides.bcast, 'precision'"),
        ("[overrides.scan]\ndatatype = 'double'", "unknown operation under overrides 'scan'"),
        (
            "sizes = [8, 12]\n[overrides.bcast]\ndatatype = 'double'",
            "12 B is not a multiple of 8 B, the size of double",
        ),
        ("ranks = [2", "can't be read as TOML"),
        ("ranks = 2\nranks = 3", "can't be read as TOML"),
        (f"seed = {'9' * 5000}", "can't be read as TOML"),
        (b"\xff\xfe\x00", "can't be read as TOML"),
    ],
)
def test_a_study_file_that_can_not_be_used(tmp_path: Path, text: str | bytes, said: str) -> None:
    base = {"ranks": "ranks = [2]", "sizes": "sizes = [8]", "[collectives]": "[collectives]\nbcast = 'all'"}
    if isinstance(text, str) and text:
        # What the case leaves out is filled in, tables last.
        before = [line for key, line in base.items() if key[0] != "[" and f"{key} " not in text]
        after = [] if "collectives" in text else [base["[collectives]"]]
        text = "\n".join([*before, text, *after])
    path = study_file(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_study(path)
    assert said.format(path=path) in str(caught.value)
    assert "\n" not in str(caught.value)


@given(
    st.dictionaries(
        st.sampled_from([*Study.model_fields, "other"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("bcast"),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=5,
        ),
    )
)
def test_any_values_are_a_study_or_an_error_for_its_user(values: dict[str, Any]) -> None:
    sound: dict[str, Any] = {"collectives": {"bcast": "all"}, "ranks": [2], "sizes": [8]}
    try:
        study = Study.check({**sound, **values}, "hypothesis")
    except UserError:
        return
    assert math.isfinite(study.slot)
    assert study.ranks
    assert study.sizes


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("250ms", 0.25), ("1.5 h", 5400), ("2min", 120)])
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1s", "1d", "nan", "inf", "1e3"])
def test_an_invalid_duration_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not a duration"):
        parse_duration(text)


def test_collectives_on_the_command_line_make_a_study() -> None:
    study = compose(["bcast", "scatter"], {"algorithms": "default,chain:fanout=4,segment_bytes=8,ring", "ranks": "3"})
    assert study.collectives == dict.fromkeys(
        ("bcast", "scatter"), ("default", "chain:fanout=4,segment_bytes=8", "ring")
    )
    assert study.ranks == (3,)


def test_an_option_takes_precedence_over_the_study(tmp_path: Path) -> None:
    path = study_file(tmp_path, GOOD)
    study = compose([str(path)], {"algorithms": "default", "sizes": "4", "launches": None})
    assert study.collectives == {"bcast": ("default",), "reduce": ("default",)}
    assert (study.sizes, study.ranks, study.launches) == ((4,), (2, 4, 8), 10)


def test_a_race_keeps_to_the_launches_that_a_study_names(tmp_path: Path) -> None:
    race = {"regret": "2%"}
    assert compose(["bcast"], race).launches == 32
    assert compose([str(study_file(tmp_path, BARE))], race).launches == 32
    assert compose(["bcast"], {**race, "budget": "10m"}).launches == ANALYSES[-1]
    assert compose([str(study_file(tmp_path, f"launches = 12\n{BARE}"))], race).launches == 12


BARE = """
ranks = [2]
sizes = "8"

[collectives]
bcast = "all"
"""

MIXED = """
ranks = [2]
sizes = "1:8"
warmup = 10
repetitions = 50

[collectives]
latency = "default"
transpose = "all"

[overrides.transpose]
sizes = "64:1Ki"
datatype = "double"
"""


def test_operations_may_have_sizes_and_a_datatype_of_their_own(tmp_path: Path) -> None:
    study = read_study(study_file(tmp_path, MIXED))
    assert study.sizes_of("latency") == (1, 2, 4, 8)
    assert study.sizes_of("transpose") == (64, 128, 256, 512, 1024)
    assert (study.datatype_of("latency"), study.datatype_of("transpose")) == ("uint8", "double")
    assert Study.check(study.model_dump(mode="json"), "the record") == study


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (["bcst"], "did you mean bcast"),
        (["bcast", "demo"], "'demo' is a study, and a study is measured alone"),
        (["ibcast"], "'ibcast' is non-blocking, and Timpani times blocking collectives; measure bcast"),
        (["PingPong"], "did you mean latency?"),
        (["osu_bcast"], "did you mean bcast?"),
        (["$(touch x)"], "unknown study or operation '$(touch x)'"),
        ([""], "unknown study or operation ''"),
    ],
)
def test_an_unknown_name_is_reported_with_the_nearest_one(what: list[str], said: str) -> None:
    with pytest.raises(UserError) as caught:
        compose(what, {})
    assert said in str(caught.value)


@pytest.mark.parametrize("typed", ["Allreduce", "MPI_Allreduce", "mpi_allreduce", "ALLREDUCE"])
def test_an_operation_may_be_written_in_mpis_way(typed: str) -> None:
    assert list(compose([typed], {}).collectives) == ["allreduce"]
    assert folder_of_today([typed, "study.toml"]).name.startswith("allreduce-study-")
