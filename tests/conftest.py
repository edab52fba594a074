"""Every test: a skip counts as missing where nothing may be left out."""

import gc
import os
import shutil
import tempfile
from collections.abc import Generator
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.installed import ONE_OF_EACH_KIND, REST, label, needs_mpi, rest
from timpani.errors import UserError
from timpani.native import announce
from timpani.native.cache import cache_folder
from timpani.native.mpi import Mpi

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling
    from xdist.workermanage import WorkerController

# Objects are kept between runs of the tests, also for another user: one who can run this checkout's Python can read
# there.
if shutil.which("ccache"):
    os.environ.setdefault("CCACHE_BASEDIR", str(cache_folder()))
    os.environ.setdefault("CCACHE_DIR", str(Path(__file__).parents[1] / "build" / "ccache"))

# A job of Open MPI 4.1 that ends removes the folder that all jobs on hosts of its name share, once it is empty. Another
# job that is about to make its own folder in it then fails. So each worker has its own place.
if "PYTEST_XDIST_WORKER" in os.environ:
    _TEMPORARY = tempfile.TemporaryDirectory(prefix="t-", ignore_cleanup_errors=True)
    Path(_TEMPORARY.name).chmod(0o1777)  # as the system's, which other users can write
    os.environ["TMPDIR"] = tempfile.tempdir = _TEMPORARY.name

# How long an example takes, or making it, depends on the machine: Hypothesis fails no test for that. Examples are the
# same in each run: a rare one says nothing about what was changed. `--hypothesis-profile=default` draws others.
settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")
# So does how long work takes: the lines about it, of which there is one every 10 s, are tested alone.
announce._SILENT_SECONDS = 1e6


@pytest.fixture(params=ONE_OF_EACH_KIND, ids=label, scope="session")
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """The first MPI library of each kind on this machine, unless a test asks for others."""
    found: Mpi = request.param
    return found


# Those that take longest, so that no worker is left with one of them at the end.
_FIRST = (
    *("tests/test_slices.py", "tests/variants/", "tests/report/", "tests/campaign/", "tests/test_docs.py"),
    *("tests/interpose/", "tests/cli/", "tests/simgrid/", "tests/libraries/", "tests/native/"),
)


# Tests that share nothing with the others of their file but programs that are built before: each runs alone.
_ALONE = ("tests/mpi/test_", "tests/test_docs.py::test_commands_run_as_written", "tests/test_slices.py")


# Fixtures that are an MPI library, or programs built for one.
_LIBRARY = {"mpi", "programs", "planted_without_mpi", "simulator"}

# Programs that take long to build, and find what others miss: `make test-rest` runs what asks for them.
_BUILT_FOR_REST = {"sanitized", "planted_programs", "planted_without_mpi"}


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Who asks for an MPI library needs one; what takes much to build or to run is left to `make test-rest`."""
    asked = set(getattr(item, "fixturenames", ()))
    if _LIBRARY & asked:
        item.add_marker(needs_mpi)
    if _BUILT_FOR_REST & asked or any(mark in REST for mark in item.iter_markers("needs")):
        item.add_marker(rest)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test is skipped where something that it needs is missing."""
    for mark in item.iter_markers("needs"):
        present, missing = mark.args
        if not present:
            pytest.skip(missing)


def _no_builds(_: str) -> Path:
    raise UserError("a test without the mark `needs` builds no programs", "mark it needs_compiler or needs_mpi")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """What has no mark `needs` passes on a machine without MPI and compiler: here it may not build."""
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("needs") is None:
            patch.setattr("timpani.native.build.cached", _no_builds)
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest first; files of labs, whose tests wait most of the time, alternate with files that compute."""

    def place(file: str) -> tuple[int, str]:
        return next((n for n, folder in enumerate(_FIRST) if file.startswith(folder)), len(_FIRST)), file

    files = {item: item.nodeid.partition("::")[0] for item in items}
    names = sorted(set(files.values()), key=place)
    labs = [name for name in names if name.startswith("tests/lab/")]
    pairs = zip_longest(labs, (name for name in names if name not in labs))
    order = {name: n for n, name in enumerate(each for pair in pairs for each in pair if each)}
    items.sort(key=lambda item: order[files[item]])


def pytest_collection_finish() -> None:
    """What was imported until now stays: the garbage collector, which would look at it again and again, leaves it."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadFileScheduling":
    """A file's tests share what it measures, so that they run in one process."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):  # type: ignore[misc] # it comes without types
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith(_ALONE) else str(super()._split_scope(nodeid))

        def remove_node(self, node: "WorkerController") -> str | None:
            """Leave out what a worker died of: it would take the next one too, and its file's other tests with it."""
            pending = [
                (unit, test) for unit in self.assigned_work[node].values() for test, done in unit.items() if not done
            ]
            if pending:
                unit, test = pending[0]
                unit[test] = True
            super().remove_node(node)
            return test if pending else None

    config.option.loadscopereorder = False  # by the number of tests, which says little of their time
    return ByFile(config, log)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With TIMPANI_NOTHING_SKIPPED set (as in CI) a skipped test fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = len(reporter.stats.get("skipped", ())) if reporter else 0
    allowed = (
        sum("may be skipped" in str(report.longrepr) for report in reporter.stats.get("skipped", ())) if reporter else 0
    )
    if os.environ.get("TIMPANI_NOTHING_SKIPPED") and skipped > allowed and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
