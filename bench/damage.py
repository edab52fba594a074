"""Damage a finished campaign in any way, and look whether a changed figure goes unmentioned.

`CORRUPTIONS=5000 SEED=2 python -m bench damage` takes as many as it says.
"""

import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from bench.common.command import timpani
from bench.common.mutate import mutate
from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.load import Campaign, load, verify
from timpani.errors import UserError
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.document.text import text_of
from timpani.report.page.methods import methods_paragraph, provenance
from timpani.report.verdict.verdict_text import verdict_document

CORRUPTIONS = int(os.environ.get("CORRUPTIONS", "1000"))
SEED = int(os.environ.get("SEED", "1"))
STUDY = ("run", "bcast", "--algorithms", "default,binomial,chain", "--sizes", "8,64K", "--slot", "5ms")


def run() -> None:
    random, counted = Random(SEED), Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        timpani(*STUDY, "--launches", "8", "-o", str(whole))
        figures = _figures(load(whole))
        for _ in range(CORRUPTIONS):
            folder = Path(place) / "c"
            shutil.copytree(whole, folder)
            harmed = _harm(folder, random)
            counted[_judged(folder, figures)] += 1
            if counted["unmentioned"]:
                sys.exit(f"a changed figure went unmentioned: {harmed}")
            shutil.rmtree(folder)
    print(
        f"{CORRUPTIONS} corruptions: {counted['refused']} refused, {counted['found']} found by check alone, "
        f"{counted['harmless']} changed no figure and no sample; 0 tracebacks, 0 changed figures unmentioned"
    )


def _harm(folder: Path, random: Random) -> str:
    """Damage one of the campaign's files that a figure comes from; returns which."""
    files = [*folder.glob("*.json"), *folder.glob("*.jsonl"), *folder.glob("launches/*/samples.jsonl.gz")]
    weights = [10 if path.parent == folder else 1 for path in files]
    [path] = random.choices(sorted(files), weights)
    if random.random() < 0.05:
        path.unlink()
        return f"{path} removed"
    before = path.read_bytes()
    path.write_bytes(mutate(before, random))
    return f"{path}: {before!r} became {path.read_bytes()!r}"


def _judged(folder: Path, figures: str) -> str:
    """How readers react to a damaged campaign."""
    try:
        unlike = bool(verify(folder, read_header(folder)).problems)
        now = _figures(load(folder))
    except UserError:
        return "refused"
    if now != figures and not unlike:
        return "unmentioned"
    return "found" if unlike else "harmless"


def _figures(campaign: Campaign) -> str:
    """All that is shown of a campaign."""
    terms = provenance(campaign.header, campaign.launches)
    methods = methods_paragraph(campaign.header, campaign.launches)
    shown = estimate_cells(raced_results(campaign)).write_csv()
    return "\n".join([shown, methods, text_of(verdict_document(campaign).blocks), *map(str, terms)])
