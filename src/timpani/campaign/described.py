"""The machine that a campaign's header describes."""

from collections.abc import Mapping
from typing import Any

from timpani.machine.hosts import Host, HostList
from timpani.machine.model import Machine


def described_machine(header: Mapping[str, Any]) -> Machine | None:
    """The machine that a study ran on by `--on`; None where it ran on this computer, which has no nodes."""
    described = header.get("machine") or {}
    if "groups" not in described:
        return None
    return Machine.check({key: described[key] for key in Machine.model_fields if key in described}, "campaign.json")


def described_hosts(header: Mapping[str, Any]) -> HostList:
    """Which of its nodes took part, in their order."""
    return tuple(Host(**host) for host in (header.get("machine") or {}).get("hosts") or [])
