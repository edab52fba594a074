"""Entering a node: a script that runs a command there, and a replacement of ssh for MPI launchers.

A node is a network namespace; each entry sets its host name and mounts its /etc/hosts. The script uses nsenter:
`ip netns exec` hides /sys/fs/cgroup, which slurmd needs.
"""

from pathlib import Path

from timpani.lab.layout import Layout, namespace_prefix
from timpani.lab.programs import ADMINISTRATION

LAB_VARIABLE = "TIMPANI_LAB"
"""Environment variable of a process on a node: the id of its lab."""

ENTER, SSH, HOSTS, SLURM_CONF = "enter", "ssh", "hosts", "slurm.conf"


def environment(layout: Layout, folder: Path) -> dict[str, str]:
    """Settings that a cluster's administrator would make for the MPI libraries: how nodes reach each other, and that
    waiting ranks yield the processor, since nodes share cores."""
    ssh = str(folder / SSH)
    return {
        LAB_VARIABLE: layout.lab,
        "OMPI_MCA_plm_rsh_agent": ssh,
        "OMPI_MCA_oob_tcp_if_include": "eth0",
        "PRTE_MCA_plm_ssh_agent": ssh,
        "PRTE_MCA_prte_if_include": "eth0",
        "OMPI_MCA_btl": "tcp,vader,self",
        "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": ssh,
        "HYDRA_IFACE": "eth0",
        **({"SLURM_CONF": str(folder / SLURM_CONF)} if layout.slurm else {}),
    }


def scripts(layout: Layout, folder: Path) -> dict[str, str]:
    """The scripts by name: `enter NODE WORD…` and `ssh [OPTION…] NODE LINE…`, whose LINE is for a shell, as with
    ssh."""
    exports = "".join(f"export {name}='{value}'\n" for name, value in environment(layout, folder).items())
    exports += f'export PATH="$PATH:{":".join(ADMINISTRATION)}"\n'
    return {
        ENTER: f"""#!/bin/sh
node=$1
shift
{exports}exec nsenter --net="/run/netns/{namespace_prefix(layout.lab)}$node" \\
    unshare --uts --mount --propagation slave sh -c \\
    'hostname "$0" && mount --bind {folder / HOSTS} /etc/hosts && exec "$@"' "$node" "$@"
""",
        SSH: f"""#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
node=$1
shift
exec {folder / ENTER} "$node" sh -c "$*"
""",
    }
