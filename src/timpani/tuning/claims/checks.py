"""All checks of conclusions, by the names that published/studies.toml uses."""

from timpani.tuning.claims.claim import Check
from timpani.tuning.claims.comparison_checks import COMPARISON_CHECKS
from timpani.tuning.claims.curve_checks import CURVE_CHECKS
from timpani.tuning.claims.placement_checks import PLACEMENT_CHECKS

CHECKS: dict[str, Check] = {**CURVE_CHECKS, **COMPARISON_CHECKS, **PLACEMENT_CHECKS}
