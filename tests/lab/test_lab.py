"""A lab is made, used, and gone without a trace, whatever happened on the way."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.campaign.live import MAIN, gone, timpani, wait_until
from tests.lab.conftest import NAMESPACES, Made, Make, listed, making, needs_lab
from timpani.machine.lab.lab import LABS
from timpani.machine.lab.make import burst_bytes

pytestmark = needs_lab

# Receives all that comes, and prints when it had come. All nodes have this machine's monotonic clock.
RECEIVE = """
import socket, time
server = socket.create_server(("", 5000))
print("ready", flush=True)
connection, _ = server.accept()
while connection.recv(65536):
    pass
print(time.monotonic())
"""
SEND = """
import socket, sys, time
print(time.monotonic())
socket.create_connection((sys.argv[1], 5000)).sendall(bytes(int(sys.argv[2])))
"""


def devices() -> set[Path]:
    return set(Path("/sys/class/net").iterdir())


def seconds_to_send(lab: Made, sender: str, receiver: str, size: int) -> float:
    """From before the sender connected until the receiver had all: a busy machine can only make it longer."""
    with lab.start(receiver, "python3", "-c", RECEIVE) as receiving:
        assert receiving.stdout is not None
        assert receiving.stdout.readline() == "ready\n"
        done = lab.exec(sender, "python3", "-c", SEND, receiver, str(size))
        assert done.returncode == 0, done.stderr
        return float(receiving.stdout.readline()) - float(done.stdout)


def test_a_lab_is_made_used_and_gone(make: Make) -> None:
    before = devices()
    lab = make("--nodes", "3", "--cores", "2", "--groups", "2", "--link", "100mbit", "--uplink", "20mbit")
    assert devices() == before
    row = listed()[lab.id]
    assert row["whole"]
    assert (row["nodes"], row["link"], row["uplink"]) == (3, 100_000_000, 20_000_000)
    assert [(node["name"], node["group"]) for node in row["members"]] == [("n1", 1), ("n2", 1), ("n3", 2)]

    assert lab.exec("n2", "hostname").stdout == "n2\n"
    assert lab.exec("n3", "sh", "-c", "echo $0 $1; exit 7", "a b", "c").stdout == "a b c\n"
    assert lab.exec("n3", "sh", "-c", "exit 7").returncode == 7
    wrong = lab.exec("n4", "hostname")
    assert (wrong.returncode, "did you mean n3" in wrong.stderr) == (2, True)

    # Over the uplink, the slowest link on the way; a burst may pass each link at once.
    size = 2**20
    most = 8 * (size - 4 * burst_bytes(100_000_000)) / 20_000_000
    assert seconds_to_send(lab, "n1", "n3", size) > most

    done = timpani("lab", "down", lab.id)
    assert (done.returncode, done.stdout) == (0, f"lab {lab.id} is gone\n")
    assert (devices(), lab.namespaces()) == (before, set())
    assert not (LABS / lab.id).exists()
    assert timpani("lab", "down", lab.id).returncode == 2


def test_processes_on_a_node_end_with_the_lab(make: Make) -> None:
    lab = make("--nodes", "1")
    stubborn = ("sh", "-c", "trap '' TERM; echo $$; while :; do sleep 1; done")
    with lab.start("n1", *stubborn) as running:
        assert running.stdout is not None
        pid = int(running.stdout.readline())
        assert timpani("lab", "down", lab.id).returncode == 0
        assert gone(pid)
    assert lab.namespaces() == set()


@pytest.fixture(scope="module")
def small(make: Make) -> Made:
    return make("--nodes", "1")


def test_remains_of_a_killed_up_are_removed_by_the_next(make: Make, small: Made) -> None:
    with making():
        known = set(listed())
        with subprocess.Popen([*MAIN, "lab", "up", "--nodes", "100"], stdout=subprocess.DEVNULL) as up:
            wait_until(lambda: len(new_namespaces(known)) > 20)
            up.send_signal(signal.SIGKILL)
        [left] = set(listed()) - known
        assert not listed()[left]["whole"]
        assert f"lab {left}: not whole" in timpani("lab", "status").stdout
        unusable = timpani("lab", "exec", "--lab", left, "n1", "--", "true")
        assert (unusable.returncode, "is incomplete" in unusable.stderr) == (2, True)

        make("--nodes", "1")
    assert left not in listed()
    assert listed()[small.id]["whole"]
    assert Made(left).namespaces() == set()


def new_namespaces(known: set[str]) -> set[Path]:
    """Those of no known lab."""
    return {path for path in NAMESPACES.glob("timpani-*") if path.name.split("-")[1] not in known}


@pytest.mark.usefixtures("small")  # skips where the kernel lets none be made
def test_a_signal_while_a_lab_is_made_leaves_nothing() -> None:
    with making():
        known = set(listed())
        with subprocess.Popen([*MAIN, "lab", "up", "--nodes", "100"], stderr=subprocess.PIPE, text=True) as up:
            wait_until(lambda: len(new_namespaces(known)) > 5)
            up.send_signal(signal.SIGTERM)
            _, said = up.communicate()
        assert (up.returncode, said) == (128 + signal.SIGTERM, "")
        assert set(listed()) <= known
        assert new_namespaces(known) == set()


def test_remains_of_a_killed_down_are_removed_by_the_next(make: Make) -> None:
    lab = make("--nodes", "2")
    (LABS / lab.id / "lab.json").unlink()  # the first thing that `down` does
    subprocess.run(["ip", "netns", "delete", f"timpani-{lab.id}-n2"], check=True)
    assert timpani("lab", "down", lab.id).returncode == 0
    assert lab.namespaces() == set()


def test_without_root_a_lab_is_refused() -> None:
    # In a separate user namespace root has no rights, and can still read this installation.
    nobody = ("unshare", "--user") if os.geteuid() == 0 else ()
    done = subprocess.run([*nobody, *MAIN, "lab", "up"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("timpani: a lab consists of network namespaces, which only root can create; ")


@pytest.mark.parametrize(
    ("missing", "part"), [("sys_admin", "refuses network namespaces"), ("net_admin", "refuses network devices")]
)
@pytest.mark.usefixtures("small")  # skips where the kernel lets none be made
def test_a_system_that_refuses_a_part_is_named_and_nothing_is_left(missing: str, part: str) -> None:
    without = ("setpriv", f"--bounding-set=-{missing}")
    with making():
        known = set(listed())
        done = subprocess.run([*without, *MAIN, "lab", "up"], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert part in done.stderr
        assert set(listed()) <= known
        assert new_namespaces(known) == set()
