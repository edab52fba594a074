"""Files that a user named: new and whole, or not there."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from timpani.errors import UserError
from timpani.report.document.output_files import write_file


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """No file grows over `size` bytes, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_file_that_can_not_be_written_whole_is_not_there(tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    with full_after(1000), pytest.raises(UserError, match=r"can't be written \(File too large\); make room"):
        write_file(output, bytes(2000))
    assert not output.exists()
    write_file(output, bytes(2000))
    assert output.stat().st_size == 2000
    with pytest.raises(UserError, match="exists already"):
        write_file(output, b"")
    assert output.stat().st_size == 2000


def test_by_force_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    write_file(output, b"old")
    link = tmp_path / "link.csv"
    link.symlink_to(output)
    with full_after(1000), pytest.raises(UserError, match="can't be written"):
        write_file(output, bytes(2000), force=True)
    assert output.read_bytes() == b"old"
    write_file(link, b"new", force=True)
    assert (output.read_bytes(), link.is_symlink()) == (b"new", True)
    assert {path.name for path in tmp_path.iterdir()} == {"out.csv", "link.csv"}
