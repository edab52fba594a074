"""Files that a user named: new and whole, or not there."""

import resource
import signal
from pathlib import Path

import pytest

from timpani.errors import UserError
from timpani.report.files import write_new


def test_a_file_that_can_not_be_written_whole_is_not_there(tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(UserError, match=r"can't be written \(File too large\); make room"):
            write_new(output, bytes(2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert not output.exists()
    write_new(output, bytes(2000))
    assert output.stat().st_size == 2000
    with pytest.raises(UserError, match="exists already"):
        write_new(output, b"")
    assert output.stat().st_size == 2000
