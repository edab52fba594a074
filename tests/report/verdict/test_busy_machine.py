"""The verdict where nothing more can be measured now: on a busy machine, and on a bundle."""

import re
from pathlib import Path

from tests.campaign_files import cells, made_up, results_of, start, write_campaign
from timpani.campaign.folder.bundle import SUFFIX, pack
from timpani.campaign.folder.load import load
from timpani.report.document.blocks import NextCommand
from timpani.report.verdict.verdict_text import verdict_document, verdict_object

NOISY = (0.7, 1.4, 1.0, 0.8, 1.3, 1.1, 0.9, 1.2, 1.05, 0.95)
TIMES = results_of(cells({"default": {8: 10.0}}), NOISY) + results_of(cells({"ring": {8: 10.0}}), NOISY[::-1])


def activity(busy_s: float) -> dict[str, object]:
    """A launch of 10 s on 2 cores, in which all processes, the ranks' 5 s included, used `busy_s`."""
    machine = {"host": "vm", "cores": 2, "seconds": 10.0, "busy_s": busy_s, "own_s": 5.0, "steal_s": 0.0}
    return start(machines=[machine])  # type: ignore[no-any-return]


def test_load_comes_first_and_no_launches_are_promised() -> None:
    busy = made_up(TIMES, [activity(20.0)])
    document = verdict_document(busy)
    assert [block.name for block in document.blocks][:2] == ["answer", "too_busy"]
    assert "1.5 of 2 cores" in document["too_busy"].text
    assert "would_decide" not in [block.name for block in document.blocks]
    assert verdict_object(busy)["undecided"] == 1
    few = results_of(cells({"default": {8: 10.0}}), (1.0, 1.1)) + results_of(cells({"ring": {8: 10.0}}), (1.1, 1.0))
    assert verdict_document(made_up(few, [activity(20.0)]))["answer"].text.endswith("a comparison takes 6 launches.")


LAUNCHES = [start(launch, seconds=2.0) for launch in range(1, 11)]


def commands(place: Path) -> dict[str, str]:
    return {
        block.name: block.command for block in verdict_document(load(place)).blocks if isinstance(block, NextCommand)
    }


def test_commands_name_a_new_folder_and_the_bundle(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "mine", TIMES, LAUNCHES, commands=["timpani run bcast -o mine"])
    bundle = tmp_path / f"mine{SUFFIX}"
    bundle.write_bytes(b"".join(pack(folder, b"")))
    assert re.fullmatch(rf"timpani run bcast -o {folder}-(\d+) --launches \1", commands(folder)["decide"])
    assert commands(bundle) == {"details": f"timpani verdict {bundle} --details"}
