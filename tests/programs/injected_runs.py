"""Runs of a program that take given times: no program starts, and a clock counts the seconds of each run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import IO

import pytest

from tests.programs.profile_files import CALL, part_text
from timpani.programs.runs import block_runs

NS = 1_000_000_000


@dataclass(frozen=True)
class InjectedRun:
    """One run: seconds of the command, and of a rank in each collective, moving data and waiting for late ranks."""

    seconds: float
    moving: Mapping[str, float] = field(default_factory=lambda: {"allreduce": 1.0})
    waiting: Mapping[str, float] = field(default_factory=dict)
    printed: str = ""

    def profile(self) -> bytes:
        """The part of a profile with two ranks."""
        waits = {name: self.waiting.get(name, 0.0) for name in self.moving}
        return part_text(
            {**CALL, "name": name, "ns": round(2 * NS * (moving + waits[name])), "waiting_ns": 2 * NS * waits[name]}
            for name, moving in self.moving.items()
        )


def inject_runs(monkeypatch: pytest.MonkeyPatch, run_of: Callable[[bool], InjectedRun]) -> None:
    """Let each run be what `run_of` gives for a run without the choice (False) or with it (True)."""
    seconds = 0.0

    def run(_argv: Sequence[str], environment: Mapping[str, str], output: IO[bytes]) -> int:
        nonlocal seconds
        profile = Path(environment["TIMPANI_PROFILE"])
        injected = run_of("-choice-" in profile.name)
        (profile / "part-1.jsonl").write_bytes(injected.profile())
        output.write(injected.printed.encode())
        seconds += injected.seconds
        return 0

    def prepared(argv: Sequence[str], *rest: object) -> SimpleNamespace:
        return SimpleNamespace(argv=argv, environment=rest[-1])

    monkeypatch.setattr(block_runs, "identity", lambda *_: {})
    monkeypatch.setattr(block_runs, "preloaded_command", prepared)
    monkeypatch.setattr(block_runs, "run_command", run)
    monkeypatch.setattr(block_runs, "monotonic", lambda: seconds)
