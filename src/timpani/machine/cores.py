"""The cores of this machine, and how many of them this process may use."""

import json
import os
import shutil
import subprocess
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from timpani.machine.cgroup import cpu_quota


@dataclass(frozen=True)
class Cores:
    """Physical cores: hardware threads of one core share it, and count once.

    present     in the whole machine
    allowed     that this process may run on, by its affinity mask
    quota       CPUs' worth of time that its control group may use; None where it isn't limited
    hypervisor  the maker of the virtual machine that this is; None on bare metal
    """

    model: str
    present: int
    allowed: int
    quota: float | None
    sockets: int
    numa_nodes: int
    threads_per_core: int
    hypervisor: str | None

    @property
    def usable(self) -> int:
        """The ranks that fit without sharing a core or waiting for the control group's next period."""
        return self.allowed if self.quota is None else max(1, min(self.allowed, int(self.quota)))

    @property
    def cores_per_socket(self) -> int:
        return self.present // self.sockets


def read_cores() -> Cores:
    """The cores as lscpu (util-linux) describes them; without it, each CPU counts as a core."""
    affinity = os.sched_getaffinity(0)
    summary = _lscpu("-J")
    table = _lscpu("-J", "-e=CPU,CORE,SOCKET,NODE")
    if not summary or not table:
        every = os.cpu_count() or len(affinity)
        return Cores("unknown", every, len(affinity), cpu_quota(), 1, 1, 1, None)
    return parse_cores(summary, table, affinity, cpu_quota())


def parse_cores(summary: str, table: str, affinity: Set[int], quota: float | None) -> Cores:
    """`summary` is what `lscpu -J` prints, `table` what `lscpu -J -e=CPU,CORE,SOCKET,NODE` prints."""
    fields = _flatten(json.loads(summary)["lscpu"])
    core_of, sockets, nodes = {}, set(), set()
    for cpu in json.loads(table)["cpus"]:
        core_of[int(cpu["cpu"])] = str(cpu["core"])  # lscpu numbers cores through all sockets
        sockets.add(str(cpu.get("socket")))  # one and the same, `-` or nothing, where the machine knows no sockets
        nodes.add(str(cpu.get("node")))
    present = set(core_of.values())
    return Cores(
        model=fields.get("Model name", "unknown"),
        present=len(present),
        allowed=len({core for cpu, core in core_of.items() if cpu in affinity}),
        quota=quota,
        sockets=len(sockets),
        numa_nodes=len(nodes),
        threads_per_core=len(core_of) // len(present),
        hypervisor=fields.get("Hypervisor vendor"),
    )


def _flatten(fields: list[dict[str, Any]]) -> dict[str, str]:
    """Newer lscpu nests its fields: a socket's model under the vendor's."""
    flat: dict[str, str] = {}
    for field in fields:
        if field["data"] is not None:
            flat[field["field"].rstrip(":")] = str(field["data"])
        flat |= _flatten(field.get("children", []))
    return flat


def _lscpu(*arguments: str) -> str:
    program = shutil.which("lscpu")
    if program is None:
        return ""
    answer = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    return answer.stdout if answer.returncode == 0 else ""
