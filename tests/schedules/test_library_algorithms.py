"""Combining what campaigns know of a library's algorithms, and the reason when one can't be predicted."""

from itertools import permutations

from timpani.schedules.predict.known_schedules import KnownSchedule, NoSchedule, together
from timpani.study.cell import Algorithm

BINOMIAL, CHAIN = (
    KnownSchedule((Algorithm("timpani", "binomial"),), 0.1),
    KnownSchedule((Algorithm("timpani", "chain"),), 0.2),
)
NOT_MEASURED = NoSchedule("its messages were counted, but its time was not measured")
NO_SCHEDULE = NoSchedule("its messages match no schedule of Timpani", by_counts=True)


def combine_in_all_orders(*results: KnownSchedule | NoSchedule) -> list[KnownSchedule | NoSchedule]:
    found = []
    for first, *others in permutations(results):
        for each in others:
            first = together(first, each)
        found.append(first)
    assert all(each == found[0] for each in found)
    return found


def test_a_missing_result_keeps_the_schedule_of_another_campaign() -> None:
    assert combine_in_all_orders(BINOMIAL, NOT_MEASURED)[0] == BINOMIAL
    assert combine_in_all_orders(BINOMIAL, KnownSchedule(BINOMIAL.schedules, 0.3), NOT_MEASURED)[0] == KnownSchedule(
        BINOMIAL.schedules, 0.3
    )


def test_counts_that_contradict_a_schedule_remove_it() -> None:
    assert combine_in_all_orders(BINOMIAL, NO_SCHEDULE, NOT_MEASURED)[0] == NO_SCHEDULE
    contradicted = combine_in_all_orders(BINOMIAL, NOT_MEASURED, CHAIN)[0]
    assert isinstance(contradicted, NoSchedule)
    assert contradicted.why == "its messages match different schedules in two campaigns"
