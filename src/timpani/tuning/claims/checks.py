"""All kinds of conclusions that studies draw from times, by the names that published/studies.toml uses."""

from timpani.tuning.claims.claim import Check
from timpani.tuning.claims.curve_checks import CURVE_CHECKS
from timpani.tuning.claims.placement_checks import PLACEMENT_CHECKS
from timpani.tuning.claims.rival_checks import RIVAL_CHECKS

CHECKS: dict[str, Check] = {**CURVE_CHECKS, **RIVAL_CHECKS, **PLACEMENT_CHECKS}
