"""Our schedules, from the programs built for any library: they need none to run."""

from pathlib import Path

import pytest

from tests.installed import FOUND
from timpani.libraries.catalogue import Catalogue
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import Simulator
from timpani.schedules.algorithms.verification import own_catalogue


@pytest.fixture(scope="session")
def programs() -> Path:
    return build_without_mpi(FOUND[0])


@pytest.fixture(scope="session")
def simulator(programs: Path) -> Simulator:
    return Simulator(programs)


@pytest.fixture(scope="session")
def own() -> Catalogue:
    return own_catalogue(FOUND[0])
