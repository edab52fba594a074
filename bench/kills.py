"""Kill runs at any moment, in any way, and count what is lost, measured twice or left behind.

`KILLS=1000 SEED=2 python -m bench kills` takes as many as it says, at two to three seconds each on an idle machine; on
a loaded one a campaign that comes no further is given longer before the next.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from bench.common.command import TIMPANI
from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.load import verify
from timpani.campaign.folder.records import RESULTS, read_records
from timpani.campaign.run.processes import MARK
from timpani.libraries.openmpi.launcher import REPORT, remains_of

KILLS = int(os.environ.get("KILLS", "100"))
SEED = int(os.environ.get("SEED", "1"))
LEAVING_SECONDS = 5.0
MAX_SECONDS = 3.0  # that a run is left alone before it is killed
STUDY = ("run", "bcast", "--algorithms", "default,binomial", "--sizes", "8,64K,1M", "--slot", "20ms")
UNTIL = (("--launches", "4"), ("--launches", "8", "--regret", "5%"))
"""Everything is measured as often, or raced."""

Key = tuple[object, ...]


def run() -> None:
    counted: Counter[str] = Counter()
    random_ = random.Random(SEED)
    while counted["kills"] < KILLS:
        with tempfile.TemporaryDirectory() as folder:
            _campaign(Path(folder) / "c", random_, counted)
        print(
            f"{counted['kills']} kills of {counted['campaigns']} campaigns ({counted['runs']} of the run itself): "
            f"{counted['lost']} results lost, {counted['repeated']} repeated, {counted['unlike']} not as written, "
            f"{counted['processes']} processes and {counted['files']} files left after {LEAVING_SECONDS:g} s; "
            "must be 0",
            flush=True,
        )


def _campaign(folder: Path, random_: random.Random, counted: Counter[str]) -> None:
    """One campaign, killed until it is complete."""
    counted["campaigns"] += 1
    asked = (*STUDY, *random_.choice(UNTIL), "-o", folder)
    before: set[Key] = set()
    max_seconds = MAX_SECONDS
    while True:
        process = subprocess.Popen([TIMPANI, *asked], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        killed = False
        try:
            said, _ = process.communicate(timeout=random_.uniform(0.3, max_seconds))
        except subprocess.TimeoutExpired:
            killed = True
            counted["kills"] += 1
            counted["runs"] += _kill(process, folder, random_)
            said, _ = process.communicate()
        if b"Traceback" in said and b"KeyboardInterrupt" not in said:  # which Python has before the command begins
            sys.exit(said.decode())
        now = _results(folder)
        counted["lost"] += len(before - now.keys())
        counted["repeated"] += sum(count - 1 for count in now.values())
        max_seconds = MAX_SECONDS if now.keys() - before else 1.5 * max_seconds
        before = set(now)
        if process.returncode in (0, 1):
            if (folder / "campaign.json").exists():
                break
            if not killed:  # Python that is interrupted while it starts ends with status 1 too
                sys.exit(said.decode())
        if process.returncode == 2 and b"start 2 ranks" not in said:  # as where its first launch was killed
            sys.exit(said.decode())
    counted["unlike"] += len(verify(folder, read_header(folder)).problems)
    time.sleep(LEAVING_SECONDS)
    counted["processes"] += len(_running(folder))
    counted["files"] += sum(
        each.exists()
        for report in folder.glob(f"launches/*/{REPORT}")
        for each in remains_of(report.read_text(), Path("/dev/shm"), Path(tempfile.gettempdir()))
    )


def _kill(process: "subprocess.Popen[bytes]", folder: Path, random_: random.Random) -> bool:
    """Kill the run, or what it started; returns whether it was the run."""
    started = _running(folder)
    if started and random_.random() < 0.3:
        number = random_.choice((signal.SIGKILL, signal.SIGTERM))
        with suppress(ProcessLookupError):
            os.kill(random_.choice(started), number)
        return False
    process.send_signal(random_.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
    return True


def _running(folder: Path) -> list[int]:
    """Processes that this campaign started, by their mark."""
    if not folder.exists():
        return []
    place = folder.stat()
    wanted = f".{place.st_dev:x}.{place.st_ino:x}/".encode()
    found = []
    for each in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = each.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(text.startswith(MARK.encode()) and wanted in text for text in variables):
            found.append(int(each.parent.name))
    return found


def _results(folder: Path) -> Counter[Key]:
    if not (folder / "campaign.json").exists():
        return Counter()
    lines = read_records(folder, read_header(folder)).values(RESULTS)
    return Counter((line["algorithm"], line["message_bytes"], line["launch"]) for line in lines)
