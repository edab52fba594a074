"""A run reports what decides the default outside Timpani before it measures, records it, and keeps to it."""

import os
from pathlib import Path

from tests.campaign.live import timpani
from tests.installed import OPEN_MPIS, needs_open_mpi
from timpani.campaign.folder.header import read_header
from timpani.native.cache import cache_folder

pytestmark = needs_open_mpi

RUN = ("--algorithms", "default", "--ranks", "2", "--oversubscribe", "--sizes", "8", "--launches", "1")


def test_a_parameter_file_that_chooses_is_reported_recorded_and_held_to(tmp_path: Path) -> None:
    file = tmp_path / ".openmpi/mca-params.conf"
    file.parent.mkdir()
    file.write_text("coll_tuned_use_dynamic_rules = 1\ncoll_tuned_bcast_algorithm = 1\n")
    built = {"XDG_CACHE_HOME": str(cache_folder().parent)}
    environment = {**os.environ, "HOME": str(tmp_path), **built, "OMPI_MCA_coll_tuned_priority": "30"}
    command = ("run", "bcast", *RUN, "--mpi", OPEN_MPIS[0].mpirun, "-o", tmp_path / "c")
    done = timpani(*command, env=environment)
    assert done.returncode == 0, done.stderr
    place = "~/.openmpi/mca-params.conf line"
    before, _, _ = done.stderr.partition("programs from")
    for line, name in ((1, "coll_tuned_use_dynamic_rules"), (2, "coll_tuned_bcast_algorithm")):
        assert f"default is not the library's default: {place} {line} sets {name} to" in before
    assert "Timpani removes OMPI_MCA_coll_tuned_priority from the environment of its launches" in before
    assert "Warning: default is not the library's default" in done.stdout
    recorded = {each.name: each.decides_default for each in read_header(tmp_path / "c").outside or ()}
    assert recorded["coll_tuned_bcast_algorithm"]
    assert not recorded["OMPI_MCA_coll_tuned_priority"]
    file.unlink()
    refused = timpani(*command, env=environment)
    assert refused.returncode == 2
    assert "was measured with another default" in refused.stderr
