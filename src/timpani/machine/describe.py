"""The machine as a campaign records it."""

import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from timpani.machine.cores import read_cores
from timpani.machine.hosts import Host, same_host
from timpani.machine.lab import links
from timpani.machine.model import Machine
from timpani.machine.node_set import fold_numbers


def describe_machine() -> dict[str, Any]:
    """What a reader of the results needs to know of the machine, and to see whether two campaigns ran on the same."""
    cores = read_cores()
    return {
        "name": platform.node(),
        "cpu": cores.model,
        "cores": cores.present,
        "sockets": cores.sockets,
        "numa": cores.numa_nodes,
        "smt": cores.threads_per_core,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "virtualised": cores.hypervisor is not None,
        "governor": frequency_governor(),
        "domains": {level: [fold_numbers(part) for part in parts] for level, parts in cores.domains.items()},
    }


def describe_cluster(machine: Machine, hosts: Sequence[Host]) -> dict[str, Any]:
    """The same of `machine`, used on `hosts`; the processor is told where this computer is one of them."""
    in_lab = machine.launcher == "lab"
    here = in_lab or any(same_host(host.name, platform.node()) for host in hosts)
    return {
        **(describe_machine() if here else {}),
        **machine.model_dump(mode="json", exclude_defaults=True),
        "hosts": [asdict(host) for host in hosts],
        **(links(machine) if in_lab else {}),
    }


def frequency_governor(root: Path = Path("/")) -> str | None:
    """How the kernel chooses the cores' clock rate; the names of all, where cores differ; None where it doesn't."""
    files = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return "+".join(sorted({file.read_text().strip() for file in files})) or None
