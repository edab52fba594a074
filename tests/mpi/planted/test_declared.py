"""A study key and a recorded field touch the files that docs/how-to/add-a-study-key.md names: two are planted."""

import json
from pathlib import Path

from tests.mpi.conftest import RunPlan, one_mpi
from tests.mpi.planted.conftest import run_planted

READ = """
import json, sys
from pathlib import Path
from timpani.campaign.plan.plan_text import key_lines
from timpani.study.compose import compose
from timpani.study.study import read_study
study = compose([sys.argv[1]], {})
recorded = study.model_dump(mode="json")
computed = dict.fromkeys("start reduction slot_ns twice by_rules share_cores lose_at begin_within_ms".split())
print(json.dumps([study.extra_calls, list(key_lines(computed, study)), recorded["extra_calls"],
                  compose(["bcast"], {"extra_calls": 5}).extra_calls]))
"""

TAKE_OVER = """
import json, sys
from dataclasses import replace
from pathlib import Path
from tests.campaign_files import results_frame
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.native.mpi import Mpi
from timpani.campaign.run.cell_result import result_of
from timpani.campaign.folder.fields import check
from timpani.campaign.plan.plan import Group, PlannedCell
from timpani.campaign.folder.launch_result import RESULT, LaunchResult
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import RacedResults
from timpani.study.cell import Algorithm, Cell
planned = PlannedCell(0, Cell("bcast", Algorithm("openmpi", "default"), 2, "core", 64, "warm"), (), ())
mpi = Mpi("openmpi", "Open MPI", "4.1.4", Path("mpirun"), Path("mpicxx"), None)
group = Group(2, "core", "uint8", False, (), {}, (planned,), PreparedVariant.plain(mpi))
result = result_of(json.load(sys.stdin), planned, group, 1, "here", "0001-1")
read = LaunchResult.from_line(check(RESULT, json.loads(json.dumps(result.as_line()))))
cells = estimate_cells(RacedResults(results_frame([read, replace(read, launch=2)])))
print(json.dumps([result.settling_calls, cells["settling_calls"].to_list()]))
"""


def study_file(folder: Path, value: str) -> Path:
    path = folder / "study.toml"
    path.write_text(f"ranks = 2\nsizes = 64\nextra_calls = {value}\n[collectives]\nbcast = 'default'\n")
    return path


def test_the_key_is_read_recorded_and_written_into_the_plan(planted: Path, tmp_path: Path) -> None:
    done = run_planted(planted, "-c", READ, str(study_file(tmp_path, "3")))
    assert done.returncode == 0, done.stderr
    read, lines, recorded, typed = json.loads(done.stdout)
    assert (read, recorded, typed) == (3, 3, 5)
    assert "extra_calls 3" in lines


def test_the_error_names_the_values_that_a_key_accepts(planted: Path, tmp_path: Path) -> None:
    main = "from timpani.cli import main; main()"
    done = run_planted(planted, "-c", main, "run", str(study_file(tmp_path, "-1")), "--dry-run")
    assert done.returncode == 2
    assert "extra_calls can't be -1; write a whole number from 0 to" in done.stderr


def test_the_key_is_an_option_in_its_panel(planted: Path) -> None:
    done = run_planted(planted, "-c", "from timpani.cli import main; main()", "run", "--help")
    _, panel = done.stdout.split("How long and how precisely")
    assert "--extra-calls" in panel.split("╰")[0]


def test_both_are_in_the_tables_of_the_pages(planted: Path) -> None:
    keys, reference = (planted / "docs" / "study-files.md").read_text(), planted / "build" / "reference"
    assert "| `extra_calls` | `0` | calls of each cell before any other |" in keys
    fields = (reference / "campaign-fields.md").read_text()
    assert fields.count("| `settling_calls` |") == 2  # of a result, and of the raw record that it is copied from
    assert "| `settling_calls` | integer | settling calls in all launches |" in (reference / "columns.md").read_text()


@one_mpi
def test_the_program_reads_the_key_and_the_field_that_it_writes_reaches_the_cells_table(
    planted: Path, planted_programs: Path, run_plan: RunPlan
) -> None:
    record = run_plan(2, ["extra_calls 3", "cell 0 bcast 64 warm - - -"], programs=planted_programs)
    (line,) = (line for line in record if "measured" in line)
    done = run_planted(planted, "-c", TAKE_OVER, text=json.dumps(line))
    assert done.returncode == 0, done.stderr
    calls = len(line["measured"]["settling_ns"])
    assert json.loads(done.stdout) == [calls, [2 * calls]]
