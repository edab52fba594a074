"""Changes to a finished campaign are refused, with file and line, and made good by the next run."""

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaign.folder.test_store import CELL, RESULT, header
from tests.campaign_files import write_header, write_lines
from tests.cli.typed import typed
from timpani.campaign.folder.load import load
from timpani.campaign.folder.sealed import seal
from timpani.campaign.folder.store import Store
from timpani.errors import UserError

SAMPLES = b'{"cell":0,"measured":{}}'
LAUNCHES = (1, 2, 3, 4)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of one cell in four launches, with raw samples."""
    folder = tmp_path_factory.mktemp("damage") / "c"
    with Store(folder, header()) as store:
        for launch in LAUNCHES:
            place = store.start_folder(launch)
            store.add_start({"launch": launch, "part": place.name, "command": ["mpirun"]})
            raw = SAMPLES + b" " * launch
            digest = hashlib.sha256(raw).hexdigest()
            store.add_result(replace(RESULT, launch=launch, median_us=1.0 + launch, part=place.name, samples=digest))
            store.add_ending(place.name, {"seconds": 1.0, "exit": 0, "ended": "finished"})
            (place / "samples.jsonl.gz").write_bytes(gzip.compress(raw + b"\n"))
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "c"))


def test_a_finished_campaign_is_as_it_was_written(folder: Path) -> None:
    checked = typed("check", folder)
    # Launches that anybody killed on this machine leave folders, which the check removes and names.
    said = [line for line in checked.stdout.splitlines() if not line.startswith("removed ")]
    assert (checked.returncode, said) == (0, ["as written: 12 lines, and the raw samples of 4 results"])


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def without(number: int) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: lines[: number - 1] + lines[number:]


def changed(old: bytes, new: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [line.replace(old, new) for line in lines]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("results.jsonl", lambda lines: [*lines, lines[0]], "line 5 can't be trusted: it repeats line 1"),
        ("results.jsonl", changed(b'"median_us": 3.0', b'"median_us": 2.0'), "line 2 can't be trusted: its checksum"),
        ("results.jsonl", changed(b'"launch": 3', b'"launch": 9'), "line 3 can't be trusted: its checksum"),
        ("results.jsonl", without(2), "line 2 was line 3: lines before it were lost, added or moved, and 1 more"),
        ("results.jsonl", without(4), "lacks 1 of the results that its start 0004-1 gave"),
        ("results.jsonl", lambda lines: lines[:1] * 2, "line 2 can't be trusted: it repeats line 1, and 3 more"),
        ("results.jsonl", lambda lines: lines[::-1], "line 1 was line 4"),
        ("results.jsonl", lambda lines: [], "lacks 1 of the results that its start 0001-1 gave, and 3 more"),
        ("launches.jsonl", without(4), "launches.jsonl lacks the start 0004-1"),
        ("launches.jsonl", changed(b"mpirun", b"mpiexe"), "line 1 can't be trusted: its checksum"),
        ("endings.jsonl", lambda lines: [], "endings.jsonl lacks the ending of the start 0001-1, and 3 more"),
        ("endings.jsonl", without(4), "endings.jsonl lacks the ending of the start 0004-1"),
        ("endings.jsonl", changed(b'"exit": 0', b'"exit": 1'), "line 1 can't be trusted: its checksum"),
    ],
)
def test_a_changed_record_is_refused_and_the_next_run_sets_it_aside(
    folder: Path, name: str, change: Callable[[list[bytes]], list[bytes]], said: str
) -> None:
    path = folder / name
    path.write_bytes(b"".join(change(lines_of(path))))
    refused = typed("show", folder)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert refused.stderr.endswith("the same `timpani run` command sets it aside, keeps the rest and continues\n")
    checked = typed("check", folder)
    assert checked.returncode == 1
    assert said.partition(", and ")[0] in checked.stdout
    with Store(folder, header()) as store:
        assert store.repaired
        unended = [each.part for each in store.unended()]
        medians = dict(zip(LAUNCHES, (2.0, 3.0, 4.0, 5.0), strict=True))
        for each in unended:
            store.add_ending(each, {"ended": "killed"})
    if (folder / "results.jsonl").stat().st_size:
        kept = load(folder).results
        assert all(medians[launch] == median for launch, median in kept.select("launch", "median_us").iter_rows())


def test_results_that_are_lost_are_to_be_taken_from_their_raw_samples(folder: Path) -> None:
    (folder / "results.jsonl").unlink()
    with Store(folder, header()) as store:
        assert [(each.launch, each.ending and each.ending["ended"]) for each in store.unended()] == [
            (launch, "finished") for launch in LAUNCHES
        ]


def test_a_line_of_another_campaign_is_refused(folder: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "other", header()) as store:
        store.add_result(replace(RESULT, launch=1, median_us=0.001))
    shutil.copy(tmp_path / "other" / "results.jsonl", folder)
    with pytest.raises(UserError, match="line 1 can't be trusted: its checksum is another's"):
        load(folder)


@pytest.mark.parametrize(("of", "copied"), [("launches", "endings"), ("endings", "launches")])
def test_a_file_in_the_place_of_another_is_refused(folder: Path, of: str, copied: str) -> None:
    shutil.copy(folder / f"{of}.jsonl", folder / f"{copied}.jsonl")
    with pytest.raises(UserError, match=rf"{copied}\.jsonl line 1 can't be trusted: its checksum is another's"):
        load(folder)


def test_results_of_a_later_version_are_refused_and_kept(folder: Path) -> None:
    identity = json.loads((folder / "campaign.json").read_bytes())["id"]
    path = folder / "results.jsonl"
    values = {**RESULT.as_line(), "launch": 5, "of_tomorrow": 1}
    path.write_bytes(path.read_bytes() + seal(values, 5, f"{identity}/results.jsonl"))
    before = path.read_bytes()
    for use in (lambda: load(folder), lambda: Store(folder, header())):
        with pytest.raises(
            UserError,
            match=r"line 5 is as it was written, .*: of_tomorrow .*; use the Timpani that wrote it: .* another build",
        ):
            use()
    assert path.read_bytes() == before


@pytest.mark.parametrize("old", [b'"title": "Ein', b'"created": "20', b'"version": "4.1'])
def test_a_changed_header_is_refused(folder: Path, old: bytes) -> None:
    path = folder / "campaign.json"
    path.write_bytes(path.read_bytes().replace(old, old[:-1] + b"X"))
    for use in (lambda: load(folder), lambda: Store(folder, header())):
        with pytest.raises(UserError, match=r"campaign\.json can't be trusted: its checksum is another's"):
            use()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (Path.unlink, "the raw samples are gone"),
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "the raw samples don't match"),
        (lambda path: path.write_bytes(b"\x00" * 300), "the raw samples don't match"),
        (lambda path: path.write_bytes(gzip.compress(SAMPLES + b"\n")), "the raw samples don't match"),
    ],
)
def test_raw_samples_that_are_not_those_of_the_results_are_reported(
    folder: Path, damage: Callable[[Path], object], said: str
) -> None:
    damage(folder / "launches" / "0002-1" / "samples.jsonl.gz")
    wanted = f"{folder}/launches/0002-1: {said}: 1 of 1 result can't be verified"
    checked = typed("check", folder)
    assert checked.returncode == 1
    assert wanted in checked.stdout
    assert "the raw samples of 3 results" in checked.stdout
    assert f"Warning: {wanted}" in typed("verdict", folder).stdout


@pytest.mark.parametrize("name", ["results.jsonl", "launches.jsonl"])
@pytest.mark.parametrize("harm", ["removed", "replaced", "changed"])
def test_a_file_that_is_taken_away_while_it_is_written_is_an_error_at_once(folder: Path, name: str, harm: str) -> None:
    with Store(folder, header()) as store:

        def append(launch: int) -> None:
            if name == "results.jsonl":
                store.add_result(replace(RESULT, launch=launch))
            else:
                store.add_start({"launch": launch, "part": f"{launch:04d}-1"})

        append(8)
        path = folder / name
        if harm == "changed":
            path.write_bytes(path.read_bytes() + b"\n")
        else:
            path.rename(folder / "elsewhere")
        if harm == "replaced":
            path.write_bytes((folder / "elsewhere").read_bytes())
        with pytest.raises(UserError, match=f"{name} was {harm} while this run wrote it"):
            append(9)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("median_us", -1.5),
        ("median_us", float("nan")),
        ("launch", 0),
        ("launch", 10**30),
        ("collective", ""),
        ("ranks", True),
        ("message_bytes", 2**70),
        ("parameters", "b=1,a=2"),
    ],
)
def test_a_field_that_holds_what_it_can_not_is_refused(tmp_path: Path, field: str, value: object) -> None:
    write_header(tmp_path)
    write_lines(tmp_path / "results.jsonl", [{**replace(RESULT, cell=CELL).as_line(), field: value}])
    with pytest.raises(UserError, match=r"results\.jsonl line 1 ") as said:
        load(tmp_path)
    assert len(str(said.value)) < 400
