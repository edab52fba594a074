"""Cores of recorded machines, and limits of control groups."""

import os
from pathlib import Path

import pytest

from timpani.machine.cores import Cores, busy_seconds, cpu_quota, parse_cores
from timpani.machine.describe import nominal_clock_ghz

DATA = Path(__file__).parents[2] / "data/lscpu"


def recorded(name: str, affinity: set[int] | None = None, quota: float | None = None) -> Cores:
    summary, table = ((DATA / f"{name}{end}.json").read_text() for end in ("", ".cpus"))
    return parse_cores(summary, table, affinity or set(range(1024)), quota)


@pytest.mark.parametrize(
    ("name", "present", "sockets", "per_socket", "caches", "numa", "threads"),
    [
        ("vm-2", 2, 1, 2, 1, 1, 1),
        ("xeon-2x12", 24, 2, 12, 2, 2, 1),
        ("epyc-2x64-smt", 128, 2, 64, 32, 8, 2),
        ("laptop-smt", 4, 1, 4, None, 1, 2),  # recorded without its caches
        ("arm-no-sockets", 4, 1, 4, None, 1, 1),
    ],
)
def test_layout(
    name: str, present: int, sockets: int, per_socket: int, caches: int | None, numa: int, threads: int
) -> None:
    cores = recorded(name)
    assert (cores.present, cores.sockets, cores.present // cores.sockets) == (present, sockets, per_socket)
    assert (cores.numa_nodes, cores.threads_per_core, cores.caches) == (numa, threads, caches)
    assert cores.usable == present


def test_two_hardware_threads_of_a_core_are_one_core() -> None:
    assert recorded("laptop-smt", {0, 1}).usable == 1
    assert recorded("laptop-smt", {0, 2}).usable == 2
    assert recorded("epyc-2x64-smt", {0, 128, 1}).usable == 2


@pytest.mark.parametrize(("quota", "usable"), [(None, 24), (4.0, 4), (2.5, 2), (0.5, 1), (64.0, 24)])
def test_a_quota_limits_the_usable_cores(quota: float | None, usable: int) -> None:
    assert recorded("xeon-2x12", quota=quota).usable == usable


def group(root: Path, line: str, files: dict[str, str]) -> Path:
    for name, text in {"proc/self/cgroup": line, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


def test_the_least_quota_on_the_way_to_the_top_counts(tmp_path: Path) -> None:
    files = {
        "sys/fs/cgroup/batch/job/cpu.max": "max 100000",
        "sys/fs/cgroup/batch/cpu.max": "250000 100000",
        "sys/fs/cgroup/cpu.max": "400000 100000",
    }
    assert cpu_quota(group(tmp_path, "0::/batch/job", files)) == 2.5


def test_version_1_groups(tmp_path: Path) -> None:
    files = {
        "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "150000",
        "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
    }
    assert cpu_quota(group(tmp_path, "4:cpu,cpuacct:/box", files)) == 1.5


def test_without_groups_nothing_limits(tmp_path: Path) -> None:
    assert cpu_quota(tmp_path) is None
    assert cpu_quota(group(tmp_path, "0::/", {"sys/fs/cgroup/cpu.max": "max 100000"})) is None


def test_busy_time_excludes_waiting_and_stolen_time() -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    user, nice, system, idle, iowait, irq, softirq, steal = (each * ticks for each in (7, 1, 2, 500, 60, 3, 4, 90))
    text = f"cpu  {user} {nice} {system} {idle} {iowait} {irq} {softirq} {steal} 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"
    assert busy_seconds(text) == pytest.approx(7 + 1 + 2 + 3 + 4)


@pytest.mark.parametrize(
    ("cpu", "ghz"),
    [
        ("Intel(R) Xeon(R) CPU X5660 @ 2.80GHz", 2.8),
        ("Intel(R) Core(TM)2 Duo CPU @ 3 GHz", 3.0),
        ("AMD EPYC 7H12 64-Core Processor", None),
        ("", None),
    ],
)
def test_a_clock_rate_is_read_from_the_processors_name(cpu: str, ghz: float | None) -> None:
    assert nominal_clock_ghz(cpu) == ghz
