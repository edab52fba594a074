"""ReFrame tests that measure collectives with Timpani. Tried with ReFrame 4.10.

The command `timpani` must be on PATH in the job; set `modules` or `prerun_cmds` in a subclass or a site's settings.
All variables can be set on ReFrame's command line:

    reframe -c timpani_check.py -r -S operations=bcast,allreduce -S ranks=4 -S baseline=/shared/timpani/before
"""

import json
import shlex
from pathlib import Path
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_after, run_before, sanity_function, variable

CAMPAIGN = "campaign"
_CELLS = "cells.json"
_COMPARED = "compared.txt"
_ENDED = "compare-ended-with-status"
_FAILED = "failed"


class TimpaniCheck(rfm.RunOnlyRegressionTest):
    """Measures one campaign. Each cell's median is a performance variable, in µs.

    operations   collectives or other operations, as `timpani list operations` names them
    sizes        of messages, as `timpani run --sizes` takes them
    algorithms   as `timpani run --algorithms` takes them
    ranks        number of ranks
    launches     starts of the measuring program; six or more let `timpani compare` test a difference
    run_options  further words for `timpani run`
    baseline     the folder of an older campaign; the test fails at what `fail_on` says, compared with it
    fail_on      as `timpani compare --fail-on` takes it
    """

    operations = variable(typ.List[str], value=["bcast", "allreduce"])
    sizes = variable(str, value="8,64Ki,1Mi")
    algorithms = variable(str, value="default")
    ranks = variable(int, value=2)
    launches = variable(int, value=10)
    run_options = variable(typ.List[str], value=[])
    baseline = variable(str, value="")
    fail_on = variable(str, value="slower:5%")

    descr = "Times of MPI collectives, measured by Timpani"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "timpani"
    keep_files = [CAMPAIGN, _CELLS, _COMPARED]

    @run_after("init")
    def ask_for_ranks(self) -> None:
        """Let the job have a slot for each rank."""
        self.num_tasks = self.ranks

    @run_before("run")
    def set_command(self) -> None:
        """Start `timpani` once: it starts the ranks with the MPI library's launcher."""
        self.job.launcher = getlauncher("local")()
        words = ["run", *self.operations, "--algorithms", self.algorithms, "--sizes", self.sizes]
        words += ["--ranks", str(self.ranks), "--launches", str(self.launches), *self.run_options, "-o", CAMPAIGN]
        self.executable_opts = [shlex.quote(word) for word in words]
        self.postrun_cmds = [f"timpani show {CAMPAIGN} --format json -o {_CELLS}"]
        if self.baseline:
            compare = f"timpani compare {shlex.quote(self.baseline)} {CAMPAIGN} --fail-on {shlex.quote(self.fail_on)}"
            self.postrun_cmds += [f"{compare} > {_COMPARED} 2>&1 || echo {_ENDED} $? >> {_COMPARED}"]

    @sanity_function
    def all_is_measured_and_not_slower(self) -> Any:
        """Whether no launch failed, and `fail_on` does not hold compared with the baseline."""
        if not Path(self.stagedir, _CELLS).exists():
            return sn.assert_true(False, f"nothing was measured: {self._read(str(self.stderr)).strip()}")
        bad = [_name(cell) for cell in self._cells() if _FAILED in cell["status"].split("+")]
        checks = [
            sn.assert_true(self._cells(), "the campaign has no cells"),
            sn.assert_false(bad, f"launches failed at {', '.join(bad)}"),
        ]
        if self.baseline:
            checks.append(sn.assert_not_found(_ENDED, _COMPARED, msg=self._read(_COMPARED)))
        return sn.all(checks)

    @run_before("performance")
    def name_times(self) -> None:
        """Make a performance variable of each cell's median."""
        self.perf_variables = {
            _name(cell): sn.make_performance_function(sn.defer(cell["median_us"]), "us")
            for cell in self._cells()
            if cell["median_us"] is not None
        }

    def _cells(self) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = json.loads(self._read(_CELLS))
        return cells

    def _read(self, name: str) -> str:
        return Path(self.stagedir, name).read_text()


def _name(cell: dict[str, Any]) -> str:
    """A performance variable's name: operation, algorithm, bytes, ranks."""
    return f"{cell['collective']}_{cell['label']}_{cell['message_bytes']}B_{cell['ranks']}ranks".replace(" ", "_")


@rfm.simple_test
class DefaultCollectives(TimpaniCheck):
    """The library's default broadcast and allreduce."""
