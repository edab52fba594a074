"""A shell that asks for words gets them: studies, operations, algorithms, campaigns; and it gets them at once."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign_files import write_header
from tests.cli.typed import typed
from timpani.campaign.folder.bundle import SUFFIX
from timpani.programs.profile.profile_folder import HEADER as PROFILE
from timpani.schedules.predict.output import JSON as PREDICTIONS
from timpani.tune.table_file import TABLE_FILE

TIMPANI = Path(sys.executable).with_name("timpani")


def offered(line: str, cwd: Path, cache: Path) -> list[str]:
    """What bash gets at the end of `line`, by the variables that its completion sets."""
    words = line.split(" ")
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(cache),
        "XDG_CACHE_HOME": str(cache),
        "_TIMPANI_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = typed(cwd=cwd, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with the names that one library and Timpani had when they were listed."""
    names = tmp_path / "cache" / "timpani" / "names"
    names.mkdir(parents=True)
    listed = {"openmpi": {"bcast": ["chain"], "reduce": ["linear"]}, "timpani": {"bcast": ["circulant"]}}
    (names / "algorithms.json").write_text(json.dumps(listed))
    return tmp_path / "cache"


def test_algorithms_are_those_of_the_operations_typed(tmp_path: Path, cache: Path) -> None:
    names = offered("timpani run bcast --algorithms ", tmp_path, cache)
    assert {"default", "all", "openmpi/chain", "timpani/circulant"} <= set(names)
    assert "openmpi/linear" not in names
    assert offered("timpani run bcast --algorithms default,openmpi/", tmp_path, cache) == ["default,openmpi/chain"]
    assert offered("timpani verify bc", tmp_path, cache) == ["bcast/circulant"]


@pytest.mark.parametrize("content", ["", '{"timpani": {"bcast": [1]}}'])
def test_a_changed_list_of_names_offers_none(tmp_path: Path, cache: Path, content: str) -> None:
    (cache / "timpani" / "names" / "algorithms.json").write_text(content)
    assert offered("timpani verify ", tmp_path, cache) == []


def test_campaigns_are_offered_and_folders_that_hold_some(tmp_path: Path, cache: Path) -> None:
    for name in ("mine", "old/first", "no-campaign"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("mine", "old/first"):
        write_header(tmp_path / name)
    assert offered("timpani show ", tmp_path, cache) == ["mine", "old/"]
    assert offered("timpani compare mine old/", tmp_path, cache) == ["old/first"]
    assert offered("timpani tune mi", tmp_path, cache) == ["mine"]
    assert offered("timpani tune li", tmp_path, cache) == ["lint"]
    assert offered("timpani show missing/", tmp_path, cache) == []


def test_places_are_offered_by_what_the_command_reads(tmp_path: Path, cache: Path) -> None:
    kinds = {"campaign": "campaign.json", "costs": PREDICTIONS, "profile": PROFILE, "rules": TABLE_FILE}
    for name, mark in kinds.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / mark).touch()
    (tmp_path / f"sent{SUFFIX}").touch()
    campaigns = ["campaign", f"sent{SUFFIX}"]
    for line, words in (
        ("timpani show ", campaigns),
        ("timpani merge ", campaigns),
        ("timpani merge new=ca", ["new=campaign"]),
        ("timpani confirm rules --campaign ", campaigns),
        ("timpani report profile --covered-by ", campaigns),
        ("timpani report campaign --predicted ", ["campaign", "costs", f"sent{SUFFIX}"]),
        ("timpani tune --for ", ["profile"]),
        ("timpani confirm ", ["rules"]),
    ):
        assert offered(line, tmp_path, cache) == words, line


def test_bash_completes_by_the_printed_script(tmp_path: Path, cache: Path) -> None:
    script = f"""
PATH={shlex.quote(str(TIMPANI.parent))}:$PATH; export XDG_CACHE_HOME={shlex.quote(str(cache))}
eval "$(timpani completion bash)"
COMP_WORDS=(timpani run bcast --algorithms openmpi/); COMP_CWORD=4
_timpani_completion timpani; echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "openmpi/chain"


@pytest.mark.needs(shutil.which("fish") is not None, "no fish on this machine")
def test_fish_completes_by_the_printed_script(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "hosts.txt").touch()
    path, names = shlex.quote(str(TIMPANI.parent)), shlex.quote(str(cache))
    script = f"""
set -x PATH {path} $PATH; set -x XDG_CACHE_HOME {names}; set -x HOME {names}
timpani completion fish | source
complete -C "timpani run bcast --algorithms openmpi/"; complete -C "timpani run --hosts hos"
"""
    done = subprocess.run(["fish", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["openmpi/chain", "hosts.txt"]


@pytest.mark.needs(shutil.which("zsh") is not None, "no zsh on this machine")
def test_zsh_completes_by_the_printed_script(tmp_path: Path, cache: Path) -> None:
    prepared = f"""PATH={shlex.quote(str(TIMPANI.parent))}:$PATH; export XDG_CACHE_HOME={shlex.quote(str(cache))}
autoload -Uz compinit; compinit -u -D; eval "$(timpani completion zsh)"; PS1=re''ady
"""
    script = r"""
zmodload zsh/zpty
zpty typed zsh -f -i
zpty -w typed "$1"
zpty -r typed seen "*ready*"
zpty -w typed "timpani run bcast --algorithms openmpi/"$'\t\x15'"print en''d"
zpty -r typed seen "*end*"
print -r -- "$seen"
zpty -d typed
"""
    environment = {**os.environ, "TERM": "vt100", "HOME": str(tmp_path)}
    command = ["zsh", "-f", "-c", script, "zsh", prepared]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=600)
    assert "chain" in done.stdout
