"""Rules for calls from one place in the program."""

from tests.interpose.conftest import RunProgram, rules
from tests.mpi.conftest import every_mpi
from timpani.native.mpi import Mpi

PROGRAM = "places.c"
RANKS = 3
SECOND = 3 * RANKS  # calls of all ranks
ROOTS, OTHERS = 4, 4 * (RANKS - 1)


def places(run_program: RunProgram, *lines: str) -> dict[int, tuple[str, str, str]]:
    """Place, algorithm, and why a rule was not followed, by the number of calls; `lines` are rules."""
    part = run_program(PROGRAM, text=rules(*lines), ranks=RANKS, TIMPANI_SITES="1").part
    found = [line for line in part.calls if line.name == "bcast"]
    return {line.calls: (line.site, line.algorithm, line.reason) for line in found}


def test_a_rule_holds_for_the_place_that_it_names(run_program: RunProgram) -> None:
    site, *plain = places(run_program)[SECOND]
    assert plain == ["", ""]
    ran = places(run_program, f"bcast site={site} linear")
    assert ran.pop(SECOND) == (site, "linear", "")
    assert {algorithm for _, algorithm, _ in ran.values()} == {""}


def test_ranks_that_call_from_different_places_agree(run_program: RunProgram) -> None:
    sites = places(run_program)
    root, others = sites[ROOTS][0], sites[OTHERS][0]
    assert root != others
    for lines, expected in (
        ((f"bcast site={root} linear",), ("", "ranks call from different places")),
        ((f"bcast site={root} linear", f"bcast site={others} linear"), ("linear", "")),
        ((f"bcast site={root} linear", f"bcast site={others} pipeline", "bcast binomial"), ("binomial", "")),
        ((f"bcast site={root} default", f"bcast site={others} default", "bcast binomial"), ("", "")),
    ):
        ran = places(run_program, *lines)
        assert ran[ROOTS][1:] == ran[OTHERS][1:] == expected


def test_a_rank_with_wrong_arguments_does_not_keep_the_others_waiting(run_program: RunProgram) -> None:
    plain = run_program("root_alone.c", text=None, ranks=2)
    site = "program+0x1"
    done = run_program("root_alone.c", text=rules(f"reduce site={site} linear", f"gather site={site} linear"), ranks=2)
    reports, expected = (
        sorted(line for line in each.stdout.splitlines() if "handler" in line) for each in (done, plain)
    )
    assert (done.status, reports) == (0, expected), done.stderr
    assert reports


@every_mpi
def test_calls_of_every_form_have_a_place(run_program: RunProgram, mpi: Mpi) -> None:
    part = run_program("forms.c", text=rules(), ranks=2, TIMPANI_SITES="1").part
    forms = ("blocking", "non_blocking", "persistent")
    places = {line.call: line.site.partition("+")[0] for line in part.calls if line.form in forms}
    assert set(places.values()) == {"forms-c"}
    assert places.keys() >= {"iallreduce", "ibarrier", "alltoallw", "neighbor_allgather"}
    assert mpi.kind != "mpich" or "bcast_init" in places


def test_calls_of_fortran_have_a_place(run_program: RunProgram, mpi: Mpi) -> None:
    done = run_program("calls.f", text=rules(), TIMPANI_SITES="1")
    [file] = {line.site.partition("+")[0] for line in done.part.calls if line.name == "bcast"}
    assert file == "calls-f" or (mpi.kind == "mpich" and file.startswith("libmpich")), (
        "MPICH's Fortran calls C functions"
    )
