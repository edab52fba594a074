"""Hints name the system's package manager and its names of packages."""

import pytest

from timpani.native.packages import install_command


@pytest.mark.parametrize(
    ("manager", "hint"),
    [
        ("apt", "`apt install openmpi-bin libopenmpi-dev`"),
        ("dnf", "`dnf install openmpi openmpi-devel`"),
        ("zypper", "`zypper install openmpi4 openmpi4-devel`"),
        ("", "install what Debian calls openmpi-bin and libopenmpi-dev"),
    ],
)
def test_each_system_has_its_command(manager: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name == manager else None)
    assert install_command("openmpi-bin", "libopenmpi-dev") == hint
    monkeypatch.setattr("shutil.which", lambda name: name if name == "dnf" else None)
    assert install_command("libsimgrid-dev") == "install what Debian calls libsimgrid-dev"
