"""What campaigns tell together of a library's algorithms, and what is said of one that can't be predicted."""

from itertools import permutations

import pytest

from timpani.errors import UserError
from timpani.prediction.known_schedules import Known, NoSchedule
from timpani.prediction.library_algorithms import together
from timpani.prediction.selected_algorithms import NotPredicted, of_library
from timpani.study.cell import Algorithm

BINOMIAL, CHAIN = Known((Algorithm("timpani", "binomial"),), 0.1), Known((Algorithm("timpani", "chain"),), 0.2)
NOT_MEASURED = NoSchedule("its time was not measured, only its messages")
NO_SCHEDULE = NoSchedule("its messages were those of no schedule of ours", by_counts=True)


def in_any_order(*told: Known | NoSchedule) -> list[Known | NoSchedule]:
    found = []
    for first, *others in permutations(told):
        for each in others:
            first = together(first, each)
        found.append(first)
    assert all(each == found[0] for each in found)
    return found


def test_a_schedule_stands_where_another_campaign_couldn_t_tell() -> None:
    assert in_any_order(BINOMIAL, NOT_MEASURED)[0] == BINOMIAL
    assert in_any_order(BINOMIAL, Known(BINOMIAL.schedules, 0.3), NOT_MEASURED)[0] == Known(BINOMIAL.schedules, 0.3)


def test_a_schedule_does_not_stand_where_another_campaign_counted_otherwise() -> None:
    assert in_any_order(BINOMIAL, NO_SCHEDULE, NOT_MEASURED)[0] == NO_SCHEDULE
    contradicted = in_any_order(BINOMIAL, NOT_MEASURED, CHAIN)[0]
    assert isinstance(contradicted, NoSchedule)
    assert contradicted.why == "its messages were those of different schedules in two campaigns"


def test_of_schedules_that_fit_two_campaigns_those_that_fit_both_are_left() -> None:
    few = Known((*BINOMIAL.schedules, *CHAIN.schedules), 0.3, (2, 4), oversubscribed=True)
    many = Known(BINOMIAL.schedules, 0.1, (8, 16))
    assert in_any_order(few, many)[0] == Known(BINOMIAL.schedules, 0.3, (2, 4, 8, 16), oversubscribed=True)


OTHERS = [
    NotPredicted("allreduce", Algorithm("openmpi", "linear_sync"), "which is of another", (8,)),
    NotPredicted("bcast", Algorithm("openmpi", "linear_sync"), "which is of another", (8,)),
]


@pytest.mark.parametrize(
    ("typed", "others", "told"),
    [
        ("openmpi/linear", OTHERS, "openmpi/linear can't be predicted: its messages were not counted"),
        (
            "openmpi/linear_sync",
            OTHERS[1:],
            "openmpi/linear_sync can't be predicted: bcast openmpi/linear_sync at 8 B: which is of another",
        ),
        (
            "openmpi/all",
            OTHERS,
            "openmpi/all can't be predicted: allreduce openmpi/linear_sync at 8 B: which is of another, and 1 more",
        ),
        (
            "openmpi/linear",
            [NotPredicted("bcast", None, "nothing was counted")],
            "openmpi/linear can't be predicted: bcast of the library: nothing was counted",
        ),
    ],
)
def test_why_an_algorithm_can_t_be_predicted_is_its_own_reason(
    typed: str, others: list[NotPredicted], told: str
) -> None:
    with pytest.raises(UserError) as refused:
        of_library(typed, [], others)
    assert str(refused.value).startswith(told)
