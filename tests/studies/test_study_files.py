"""The study files that the slice ships."""

from pathlib import Path

from tests.cli.typed import typed
from timpani.study.compose import compose


def test_osus_protocol_takes_the_counts_of_the_study_unless_others_are_given() -> None:
    full_nodes = ["bcast-scatter-full-nodes"]
    own = compose(full_nodes, {})
    assert (own.method, own.warmup, own.repetitions) == ("timpani", None, None)
    as_published = compose(full_nodes, {"method": "osu"})
    assert (as_published.warmup, as_published.repetitions) == (100, 1000)
    fewer = compose(full_nodes, {"method": "osu", "repetitions": 5})
    assert (fewer.warmup, fewer.repetitions) == (100, 5)
    assert compose(["bcast-reduce-mapping"], {"method": "osu"}).repetitions == 10_000
    messages = compose(["pingpong-and-transpose"], {"method": "osu"})
    assert (messages.warmup, messages.repetitions) == (10, 50)


def test_a_mistake_in_a_study_shows_before_a_job_is_submitted(tmp_path: Path) -> None:
    words = ("study", "pingpong-and-transpose", "--on", "slurm:lab,nodes=2,tasks=2", "-o", tmp_path, "--dry-run")
    assert "#SBATCH" in typed(*words, "--sizes", "8").stdout
    wrong = typed(*words, "--sizes", "1")
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)
    assert "not a multiple of 8 B" in wrong.stderr
