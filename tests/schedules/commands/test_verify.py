"""`timpani verify` as a user types it."""

import re

import pytest

from tests.cli.typed import typed
from tests.installed import needs_mpi
from timpani.schedules.algorithms.verification import verify_algorithms

pytestmark = needs_mpi


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("alltoall/bruck", "--ranks", "1:100000"), r"try --ranks 1:\d+, or fewer algorithms"),
        (
            ("alltoall/bruck", "--ranks", "900:1000", "--budget", "1ms"),  # which no machine's first rank count meets
            r"try fewer ranks or elements, or fewer algorithms",
        ),
        (("alltoall/bruck", "--count", "0:1000000"), r"try --ranks 1:\d+, or fewer algorithms"),
    ],
)
def test_a_very_long_verification_is_refused_with_an_estimate(words: tuple[str, ...], advice: str) -> None:
    done = typed("verify", *words)
    assert done.returncode == 2
    found = r"timpani: verifying 1 algorithm at \d+:\d+ ranks would take about .+ and [\d,.]+ GB of memory; "
    assert re.match(found + advice, done.stderr), done.stderr


def test_steps_add_up_to_the_whole_and_stop_at_a_mistake() -> None:
    from timpani.libraries.find import choose_mpi
    from timpani.native.build import build_without_mpi

    programs = build_without_mpi(choose_mpi(None))
    shares: list[float] = []
    names = ["bcast/binomial", "bcast/linear"]
    first, second = verify_algorithms(programs, names, (1, 40), (3, 3), shares.append)
    assert len(shares) == 6
    assert sum(shares) == pytest.approx(1)
    (whole, _) = verify_algorithms(programs, names, (1, 16), (3, 3))
    (rest, _) = verify_algorithms(programs, names, (17, 40), (3, 3))
    assert first["checked"] == whole["checked"] + rest["checked"]
    assert (first["algorithm"], second["algorithm"]) == ("binomial", "linear")
