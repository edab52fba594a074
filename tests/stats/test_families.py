"""False alarms of whole campaigns in which no algorithm differs."""

from bench.families import POINTS, false_alarms

from timpani.stats.compare import ALPHA


def test_false_alarms_of_a_campaign_stay_below_the_level() -> None:
    quiet, noisy = false_alarms(0.01, 5), false_alarms(0.1, 20)
    assert quiet.by_rule.sum() == 0
    assert 0 < noisy.by_test.mean() < ALPHA * POINTS  # the seed is fixed
    assert noisy.by_rule.mean() < 0.005 * POINTS
