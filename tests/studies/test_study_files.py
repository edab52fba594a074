"""The study files that the slice ships."""

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
