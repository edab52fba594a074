"""What a lab is planned to be. Tests of real labs show that their links have the rates that were asked for."""

import errno
import fcntl
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.machine.lab import make
from timpani.machine.lab.lab import SWITCHES, Lab, Layout, parse_rate, show_rate
from timpani.machine.lab.make import burst_bytes, steps

rates = st.integers(10**5, 10**11)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    nodes = draw(st.integers(1, 40))
    groups = draw(st.integers(1, nodes))
    return Layout(nodes=nodes, groups=groups, cores=2, link=draw(rates), uplink=draw(rates))


@given(layouts())
def test_nodes_are_dealt_out_evenly_and_have_an_address_each(layout: Layout) -> None:
    sizes = Counter(node.group for node in layout.members)
    assert set(sizes) == set(range(1, layout.groups + 1))
    assert max(sizes.values()) - min(sizes.values()) <= 1
    assert [node.group for node in layout.members] == sorted(node.group for node in layout.members)
    addresses = [step.argv[5] for step in steps(layout) if "address" in step.argv]
    assert len(set(addresses)) == len(addresses) == layout.nodes
    assert all(address.startswith("10.0.") and address.endswith("/16") for address in addresses)


def test_two_labs_share_no_name() -> None:
    one, other = (Layout(nodes=3, groups=1, cores=1, link=10**9, uplink=10**9) for _ in range(2))
    assert not set(one.namespaces) & set(other.namespaces)
    assert one.namespace(SWITCHES) not in (one.namespace(node.name) for node in one.members)


@given(rates)
def test_a_burst_is_a_small_part_of_a_second(rate: int) -> None:
    assert 2**12 <= burst_bytes(rate) <= max(2**12, rate / 8 / 999)


@given(rates)
def test_a_shown_rate_reads_back(rate: int) -> None:
    assert parse_rate(show_rate(rate)) == rate


@pytest.mark.parametrize("text", ["", "1", "1gb", "-1gbit", "1kbit", "0gbit", "900gbit", "1gbit; reboot", "١gbit"])
def test_an_invalid_rate_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        parse_rate(text)


def test_a_file_system_without_locks_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(make, "LABS", tmp_path)
    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(UserError, match=f"{tmp_path} is on a file system without file locks"):
        make.down(Lab("none", None))
