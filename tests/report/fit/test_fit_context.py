"""Which limits of a library may explain a switch in a curve."""

import numpy as np
import pytest

from timpani.models.curve import Curve
from timpani.models.fit import CurveFit
from timpani.models.hockney import Hockney
from timpani.models.switches import Switch
from timpani.report.fit.fit_context import FitContext
from timpani.stats.mean import Estimate


@pytest.mark.parametrize(
    ("collective", "provider", "algorithm", "hinted"),
    [
        ("latency", "openmpi", "default", True),
        ("bcast", "openmpi", "default", True),
        ("transpose", "timpani", "plain_message", True),
        ("transpose", "timpani", "local_memcpy", False),
        ("transpose", "timpani", "column_by_column", False),
        ("reduce_local", "openmpi", "default", False),
    ],
)
def test_a_limit_of_messages_is_no_hint_where_no_message_has_the_size(
    collective: str, provider: str, algorithm: str, hinted: bool
) -> None:
    name = {"collective": collective, "provider": provider, "algorithm": algorithm, "ranks": 2, "placement": "core"}
    curve = Curve(np.array([1024.0, 8192.0]), np.array([[1.0, 9.0]]))
    found = CurveFit(name, None, curve, curve, [], [], Hockney(*[Estimate(1.0, 1.0, 1.0)] * 2), "ok")
    context = FitContext({"btl_vader_eager_limit": 4096}, True, None, {}, (), ())
    switch = Switch(8192, 1024, 8192, 3.0, 0.001, Estimate(2.0, 1.9, 2.1), jumps=True)
    assert context.limits_within(switch, found) == (["btl_vader_eager_limit=4096"] if hinted else [])
