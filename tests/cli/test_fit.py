import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from tools.reference import described_keys
from typer.testing import CliRunner, Result

from tests.campaign_files import cells, results_of, write_header, write_lines
from tests.cli.test_show import measured_on
from tests.installed import OPEN_MPIS, needs_open_mpi
from timpani.cli.files import import_
from timpani.cli.fit import fit
from timpani.errors import UserError
from timpani.libraries.find import eager_limits

APP = typer.Typer()
APP.command("fit")(fit)
APP.command("import")(import_)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(APP, [str(argument) for argument in arguments])


def fitted(*arguments: str | Path) -> dict[str, Any]:
    done = run("fit", *arguments, "--format", "json")
    assert done.exit_code == 0, done.exception
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def published(name: str, folder: Path) -> Path:
    assert run("import", "--published", name, "-o", folder / name).exit_code == 0
    return folder / name


def campaign(folder: Path, lines: list[dict[str, Any]]) -> Path:
    """A campaign of broadcasts with `lines` in place of what a whole result would say."""
    one = results_of(cells({"default": {8: [1.0]}}), machine="desk")[0].as_line()
    folder.mkdir()
    write_header(folder)
    write_lines(folder / "results.jsonl", [{**one, "median_us": None, "osu_avg_us": None, **line} for line in lines])
    return folder


def test_regressions_are_fitted_where_ranks_vary(tmp_path: Path) -> None:
    found = fitted(published("behrooz_bcast_scatter", tmp_path), "--published", "della_siega_bcast_linear_ols")
    assert len(found["curves"]) == 8 * 8
    linear = [each for each in found["regressions"] if (each["collective"], each["algorithm"]) == ("bcast", "linear")]
    assert [each["formula"] for each in linear] == [
        "latency ~ ranks + size - 1",
        "log2(latency) ~ ranks + log2(size) - 1",
    ]
    assert [each["term"] for each in linear[1]["coefficients"]] == ["ranks", "log2(size)"]
    switch = next(each["switches"][0] for each in found["curves"] if each["switches"])
    parts = {
        "key": found,
        "key of a curve": found["curves"][0],
        "key of a switch": switch,
        "key of a regression": linear[0],
    }
    for head, part in parts.items():
        assert {key for key in part if not key.endswith("_interval")} == described_keys("fit-json", head)
    assert linear[0]["observations"] == len(linear[0]["residuals"]) == 8 * 21
    assert linear[0]["rms_error_unseen_ranks"] > linear[0]["rms_error"]
    della_siega = found["published"]["della_siega_bcast_linear_ols"]
    assert len(della_siega["rows"]) == 4
    assert [each["formula"] for each in della_siega["comparisons"]] == [each["formula"] for each in linear]
    ranks = della_siega["comparisons"][0]["terms"][0]
    assert ranks["difference"]["value"] == pytest.approx(ranks["measured"]["value"] - ranks["published"]["value"])


GOOD = [{"message_bytes": size, "median_us": 1.0 + size / 100} for size in (1, 2, 4, 8)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"message_bytes": 16, "median_us": 0.0}, "a latency of 0.0 µs at 16 B"),
        ({"message_bytes": 16, "error": "rank 1 died"}, "failed at 16 B"),
    ],
)
def test_a_row_that_is_no_measurement_is_named_and_spoils_no_other(
    line: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = campaign(tmp_path / "bad", [*GOOD, line])
    found = fitted(folder)
    assert found["left_out"] == [f"bcast default on 2 ranks: {message} ({folder}/results.jsonl line 5)"]
    assert [curve["sizes"] for curve in found["curves"]] == [4]
    assert found["curves"][0]["hockney"]["us_per_byte"] == pytest.approx(0.01)
    assert f"Left out: {found['left_out'][0]}" in run("fit", folder).stdout


def test_a_negative_intercept_is_no_latency(tmp_path: Path) -> None:
    lines = [{"message_bytes": size, "median_us": 0.01 * size - 0.5} for size in (64, 128, 256, 512, 1024)]
    folder = campaign(tmp_path / "late", lines)
    hockney = fitted(folder, "--clock-ghz", "2")["curves"][0]["hockney"]
    assert (hockney["latency_us"], hockney["alpha_cycles"]) == (None, None)
    assert hockney["us_per_byte"] == pytest.approx(0.01)
    text = run("fit", folder).stdout
    assert re.search(r"core +unknown", text)
    assert "– to –" not in text


def test_an_outlying_launch_is_not_fitted_and_is_reported(tmp_path: Path) -> None:
    launches = [{**line, "launch": launch} for launch in (1, 2, 3, 4) for line in GOOD]
    launches[-1] = {**launches[-1], "median_us": 60.0}
    folder = campaign(tmp_path / "loud", launches)
    (curve,) = fitted(folder)["curves"]
    assert curve["hockney"]["us_per_byte"] == pytest.approx(0.01)
    assert curve["disturbed"] == [{"message_bytes": 8, "time_us": 60.0, "median_us": 1.08}]
    assert "1 of 16 launch times, far from the median of their size: 60 µs at 8 B" in run("fit", folder).stdout


def test_a_line_that_misses_a_median_is_no_good_fit(tmp_path: Path) -> None:
    bent = [{"message_bytes": size, "median_us": time} for size, time in ((1, 1.0), (2, 2.0), (4, 2.0), (8, 2.0))]
    folder = campaign(tmp_path / "bent", bent)
    (curve,) = fitted(folder)["curves"]
    assert "poor_fit" in curve["status"].split("+")
    assert curve["misses"][0]["message_bytes"] == 1
    assert re.search(r"the fitted line is off the measured median by \+\d+% at 1 B", run("fit", folder).stdout)
    (good,) = fitted(campaign(tmp_path / "good", GOOD))["curves"]
    assert "poor_fit" not in good["status"]
    assert good["misses"] == []


def test_the_equation_in_cycles_has_both_coefficients_or_asks_for_the_clock_rate(tmp_path: Path) -> None:
    messages = [{**row, "collective": "latency", "parameters": "first=0,second=1"} for row in GOOD]
    folder = campaign(tmp_path / "good", messages)
    at_rate = run("fit", folder, "--clock-ghz", "2.5").stdout
    assert re.search(r"cycles = 2500 \(.*\) \+ 25 \(.*\) · n, n in bytes, at 2.5 GHz", at_rate)
    unknown = run("fit", folder).stdout
    assert "takes the processor's clock rate" in unknown
    assert "cycles = 2500" not in unknown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "-o", "x"), "either files or --published"),
        (("import", "--published", "della_siega", "-o", "x"), "della_siega_bcast_linear_ols is somebody's fit"),
        (("import", "--published", "assignment2", "-o", "x"), "a study's conclusions, without a table"),
        (("fit", "x", "--published", "malasi"), "malasi_bcast_scatter is measurements, not a fit"),
    ],
)
def test_a_wrong_published_name_says_what_there_is(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if arguments[0] == "fit":
        campaign(tmp_path / "x", GOOD)
    error = run(*arguments).exception
    assert isinstance(error, UserError)
    assert message in str(error)


def test_text_has_the_studys_names_and_data_those_of_what_was_measured(tmp_path: Path) -> None:
    study = {"collectives": {"bcast": ["default", "openmpi/basic_linear"]}}
    folder = measured_on(tmp_path / "c", (2, 4), ("simgrid/default", "simgrid/flattree"), "simgrid", study)
    note = "basic_linear (bcast): simgrid/flattree stands in for openmpi/basic_linear."
    text = run("fit", folder, "--published", "della_siega").stdout
    assert note in text.splitlines()
    assert "flattree" not in text.replace(note, "")
    assert {curve["algorithm"] for curve in fitted(folder)["curves"]} == {"default", "flattree"}


@needs_open_mpi
def test_a_switch_is_named_after_the_librarys_limit_within_its_interval(tmp_path: Path) -> None:
    limits = eager_limits("openmpi", OPEN_MPIS[0].version)
    name, limit = next((name, limit) for name, limit in limits.items() if 64 <= limit <= 2**19)
    sizes = [2**power for power in range(23)]
    lines = [{"message_bytes": n, "median_us": 1 + n / 1000 + 5 * (n > limit)} for n in sizes]
    folder = campaign(tmp_path / "limited", lines)
    write_header(folder, mpi={"kind": "openmpi", "version": OPEN_MPIS[0].version})
    (curve,) = fitted(folder)["curves"]
    (switch,) = curve["switches"]
    assert f"{name}={limit}" in switch["library_limits"]
    assert f"may be the library's {', '.join(switch['library_limits'])}" in run("fit", folder).stdout
