"""Our schedules, from the programs built for any library: they need none to run."""

from pathlib import Path

import pytest

from timpani.native.build import build
from timpani.native.find import find_mpis
from timpani.providers.catalogue import Catalogue
from timpani.providers.own import own_catalogue
from timpani.schedules.simulation import Simulator


@pytest.fixture(scope="session")
def programs() -> Path:
    mpis = find_mpis()
    if not mpis:
        pytest.skip("no MPI library on this machine")
    return build(mpis[0])


@pytest.fixture(scope="session")
def simulator(programs: Path) -> Simulator:
    return Simulator(programs)


@pytest.fixture(scope="session")
def own() -> Catalogue:
    return own_catalogue(find_mpis()[0])
