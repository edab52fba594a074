"""A study file or machine file that somebody sent runs nothing before a person agrees to it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.installed import needs_mpi
from timpani.cli import app
from timpani.errors import UserError
from timpani.machine.detect import resolve
from timpani.study.compose import compose, shipped_studies
from timpani.study.trust import code_in, is_trusted, trust, without_code
from timpani.study.variant import parse_variant

STUDY = """
title = "Rings"
question = "From which size on?$(touch a-command-ran)"
ranks = 2
sizes = 8
collectives = {{bcast = "default"}}
variants = {{site = {settings!r}}}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        "--source sent.toml",
        "--preload evil.so",
        "--module theirs",
        "--mpi /tmp/theirs",
        "LD_PRELOAD=evil.so",
        "PATH=theirs",
        "BASH_ENV=theirs",
        "OMPI_MCA_mca_base_component_path=theirs",
        "UCX_TLS=/tmp/theirs.so",
        "--mca plm_rsh_agent theirs",
        "--mca btl_tcp_note 'a b'",
        "--launch-agent theirs",
    ],
)
def test_code_of_a_study_file_is_refused_until_a_person_agrees_to_its_contents(settings: str) -> None:
    file = Path("sent.toml")
    file.write_text(STUDY.format(settings=settings))
    with pytest.raises(UserError, match=r"can run programs.*--trust sent\.toml"):
        compose([str(file)], {})
    assert compose([str(file)], {}, with_code=False).variants["site"].is_plain
    trust(file)
    assert compose([str(file)], {}).variants["site"] == parse_variant(settings)
    file.write_text(file.read_text() + "\n")
    assert not is_trusted(file)


def test_switches_and_limits_of_a_library_are_no_code() -> None:
    variant = parse_variant(
        "--mca btl ^vader OMPI_MCA_coll_tuned_bcast_algorithm=3 UCX_TLS=rc,self I_MPI_ADJUST_BCAST=2"
    )
    assert not code_in({"site": variant})
    assert without_code(variant) == variant


def test_the_shipped_studies_need_no_agreement() -> None:
    assert not any(code_in(shipped.study.variants) for shipped in shipped_studies())


def test_a_typed_variant_needs_no_agreement() -> None:
    assert compose(["bcast"], {"variants": ["mine: LD_PRELOAD=x.so"]}).variants


@needs_mpi
def test_a_dry_run_of_a_sent_study_runs_nothing() -> None:
    Path("sent.toml").write_text(STUDY.format(settings="--source sent.toml"))
    done = CliRunner().invoke(app, ["run", "sent.toml", "--dry-run"])
    assert done.exit_code == 0
    assert "variant 'site'" in done.stderr
    assert not Path("a-command-ran").exists()


def test_a_machine_file_with_a_path_is_refused_until_a_person_agrees() -> None:
    file = Path("machine.toml")
    file.write_text('name="m"\nlauncher="openmpi"\nmpi="/tmp/theirs"\n[[groups]]\nname="g"\nnodes=["n1"]\ncores=2\n')
    with pytest.raises(UserError, match=r"names /tmp/theirs.*--trust machine\.toml"):
        resolve(str(file))
    trust(file)
    assert resolve(str(file)).mpi == "/tmp/theirs"


def test_a_machine_file_with_names_of_modules_needs_no_agreement() -> None:
    file = Path("machine.toml")
    file.write_text(
        'name="m"\nlauncher="openmpi"\nmodules=["openmpi/5.0"]\n[[groups]]\nname="g"\nnodes="n1"\ncores=2\n'
    )
    assert resolve(str(file)).modules == ("openmpi/5.0",)


def test_the_next_step_can_be_typed_for_a_file_with_a_space() -> None:
    Path("a b.toml").write_text(STUDY.format(settings="--source x.sh"))
    with pytest.raises(UserError, match=r"--trust 'a b\.toml'"):
        compose(["a b.toml"], {})
