"""The processor time that this process's control group may use; containers and batch systems limit it."""

from pathlib import Path


def cpu_quota(root: Path = Path("/")) -> float | None:
    """The number of CPUs that the control groups allow, the minimum over all levels; None without a limit."""
    limits = []
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", maxsplit=2)  # `0::/user.slice`, or in version 1 `4:cpu,cpuacct:/batch`
        if controllers == "":
            mounts, read = ["sys/fs/cgroup", "sys/fs/cgroup/unified"], _version_2
        elif "cpu" in controllers.split(","):
            mounts, read = ["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"], _version_1
        else:
            continue
        group = Path(path.lstrip("/"))
        limits += [read(root / mount / each) for mount in mounts for each in (group, *group.parents)]
    return min((limit for limit in limits if limit is not None), default=None)


def _version_2(folder: Path) -> float | None:
    """cpu.max holds `200000 100000`: microseconds of processor time in each period; or `max 100000`."""
    for line in _lines(folder / "cpu.max"):
        quota, period = line.split()
        return None if quota == "max" else int(quota) / int(period)
    return None


def _version_1(folder: Path) -> float | None:
    quota, period = _lines(folder / "cpu.cfs_quota_us"), _lines(folder / "cpu.cfs_period_us")
    return int(quota[0]) / int(period[0]) if quota and period and int(quota[0]) > 0 else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:  # kernels and containers may lack it
        return []
