"""How busy cores are, from what the kernel counts."""

import os

import pytest

from timpani.machine.cores import busy_seconds


def test_busy_time_excludes_waiting_and_stolen_time() -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    user, nice, system, idle, iowait, irq, softirq, steal = (each * ticks for each in (7, 1, 2, 500, 60, 3, 4, 90))
    text = f"cpu  {user} {nice} {system} {idle} {iowait} {irq} {softirq} {steal} 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"
    assert busy_seconds(text) == pytest.approx(7 + 1 + 2 + 3 + 4)
