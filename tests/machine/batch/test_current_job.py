"""The batch job that a launch runs in, from its variables."""

import pytest

from timpani.machine.batch.batch_systems import current_job


@pytest.mark.parametrize(
    ("environment", "system"),
    [
        ({"SLURM_JOB_NAME": "holt", "SLURM_JOB_ID": "4711"}, "Slurm"),
        ({"PBS_JOBNAME": "holt", "PBS_JOBID": "4711"}, "PBS"),
        ({"LSB_JOBNAME": "holt", "LSB_JOBID": "4711"}, "LSF"),
    ],
)
def test_a_job_has_its_systems_name_its_own_and_its_number(environment: dict[str, str], system: str) -> None:
    assert current_job(environment) == {"system": system, "name": "holt", "id": "4711"}


def test_a_name_that_cannot_be_printed_or_is_too_long_spoils_no_record() -> None:
    found = current_job({"SLURM_JOB_NAME": "a\nb", "SLURM_JOB_ID": "1"})
    assert found == {"system": "Slurm", "name": "", "id": "1"}
    long = current_job({"SLURM_JOB_NAME": "a" * 100_000, "SLURM_JOB_ID": "1"})
    assert long is not None
    assert len(long["name"]) < 1000
