"""The way into a node: a script that runs a command there, and one in ssh's place for the launchers of MPI.

A node is a network namespace; its host name and its /etc/hosts are made anew at each entrance. nsenter and not
`ip netns exec`, which hides /sys/fs/cgroup, and slurmd wants that.
"""

from pathlib import Path

from timpani.lab.layout import Layout, namespace_prefix
from timpani.lab.programs import ADMINISTRATION

WITHIN = "TIMPANI_LAB"
"""The environment's variable that tells a process on a node which lab it is in."""

ENTER, SSH, HOSTS, SLURM_CONF = "enter", "ssh", "hosts", "slurm.conf"


def environment(layout: Layout, folder: Path) -> dict[str, str]:
    """What a cluster's administrator would write into the libraries' settings: how nodes reach each other,
    and that ranks which wait shall give way, since nodes share cores."""
    ssh = str(folder / SSH)
    return {
        WITHIN: layout.lab,
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
    """The scripts by name: `enter NODE WORD…` and `ssh [OPTION…] NODE LINE…`: a shell reads LINE, as ssh has it."""
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
