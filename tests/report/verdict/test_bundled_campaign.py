"""The verdict on a bundle names the bundle, and no command that would measure into the folder it is unpacked in."""

from pathlib import Path

from tests.campaign_files import cells, results_of, start, write_campaign
from tests.report.verdict.test_busy_machine import NOISY
from timpani.campaign.folder.bundle import SUFFIX, pack
from timpani.campaign.folder.load import load
from timpani.report.document.blocks import NextCommand
from timpani.report.verdict.verdict_text import verdict_document

TIMES = results_of(cells({"default": {8: 10.0}}), NOISY) + results_of(cells({"ring": {8: 10.0}}), NOISY[::-1])
LAUNCHES = [start(launch, seconds=2.0) for launch in range(1, 11)]


def commands(place: Path) -> dict[str, str]:
    return {
        block.name: block.command for block in verdict_document(load(place)).blocks if isinstance(block, NextCommand)
    }


def test_commands_name_the_bundle(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "mine", TIMES, LAUNCHES, commands=["timpani run bcast -o mine"])
    bundle = tmp_path / f"mine{SUFFIX}"
    bundle.write_bytes(b"".join(pack(folder, b"")))
    assert "decide" in commands(folder)
    assert commands(bundle) == {"details": f"timpani verdict {bundle} --details"}
