"""False alarms of whole campaigns in which no algorithm differs."""

from bench.families import POINTS, false_alarms

from timpani.stats.compare import ALPHA


def test_a_whole_campaign_has_far_fewer_false_alarms_than_the_level_allows() -> None:
    quiet, noisy = false_alarms(0.01, 5), false_alarms(0.1, 20)
    assert quiet.by_rule.sum() == 0
    assert 0 < noisy.by_test.mean() < ALPHA * POINTS  # the seed is fixed
    assert noisy.by_rule.mean() < 0.005 * POINTS
