"""Why an option's value was refused, in words: those of pydantic, by which typer checks it, are for programmers."""

from typing import Any

from timpani.errors import UserError

_STEPS = {
    "less_than_equal": "write {le} or less",
    "greater_than_equal": "write {ge} or more",
    "int_parsing": "write a whole number",
    "float_parsing": "write a number",
}
"""What to write instead, by the kind of fault."""


def refused_value(error: Exception) -> UserError | None:
    """The error for a value that pydantic refused, which `error` of typer names its option for; None where another
    fault or another check is behind it."""
    errors = getattr(error.__cause__, "errors", None)
    options = getattr(getattr(error, "param", None), "opts", None)
    if not errors or not options:
        return None
    problem: dict[str, Any] = errors()[0]
    if problem["type"] not in _STEPS:
        return None
    step = _STEPS[problem["type"]].format(**problem.get("ctx", {}))
    return UserError(f"invalid value for '{options[0]}': {problem['input']}", step)
