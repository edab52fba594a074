"""Nothing is silent: a command that works prints lines, but not between those of a measurement."""

from threading import Event

import pytest

from timpani.native import announce


def test_a_bar_shows_units_and_promises_no_time() -> None:
    units = announce.Units()
    assert units.bar() == ""
    units.done, units.total = 1, 10
    assert units.bar() == ": [##..................] 1 of 10 units"
    units.done = 6
    assert units.bar() == ": [############........] 6 of 10 units"


def test_lines_appear_while_nobody_else_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = Event()
    monkeypatch.setattr(announce, "_SILENT_SECONDS", 0.001)
    monkeypatch.setattr(announce, "announce", lambda _: printed.set())
    with announce.working("making rules") as printing:
        assert printed.wait(60)
        with printing:
            printed.clear()
            assert not printed.wait(0.05)


def test_only_the_innermost_work_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, printed = list[str](), Event()

    def take(text: str) -> None:
        lines.append(text)
        if len(lines) > 20:
            printed.set()

    monkeypatch.setattr(announce, "_SILENT_SECONDS", 0.001)
    with announce.working("choosing") as outer, outer, announce.working("compiling"):
        monkeypatch.setattr(announce, "announce", take)
        outer.release()
        assert printed.wait(60)
        assert {*lines} == {"still compiling"}
        outer.acquire()
