"""Algorithms in one text: a list with commas, and series of a parameter. `chain:segment_bytes=4K:256K*4` is four."""

import re
from collections.abc import Collection, Iterator
from itertools import product

from timpani.errors import UserError
from timpani.study.sizes import VALUE, parse_sizes

_SERIES = re.compile(r"(?P<name>\s*[a-z_]+)=(?P<values>[^,=]*:[^,=]*)", re.ASCII)
_MAX_ALGORITHMS = 1000  # algorithms of one text: more was hardly meant


def each_of(text: str) -> Iterator[str]:
    """The algorithms that `text` stands for, each with one value of each parameter; itself where it has no series.

    Series are written as sizes are: FIRST:LAST doubles, FIRST:LAST*K multiplies, FIRST:LAST+STEP adds.
    """
    name, _, parameters = text.partition(":")
    parts = parameters.split(",")
    if not any(map(_SERIES.fullmatch, parts)):
        yield text
        return
    values = [
        [f"{series['name']}={value}" for value in parse_sizes(series["values"], VALUE)]
        if (series := _SERIES.fullmatch(part))
        else [part]
        for part in parts
    ]
    combinations = list(product(*values))
    if len(combinations) > _MAX_ALGORITHMS:
        raise UserError(
            f"{text!r} is {len(combinations)} algorithms", f"choose {_MAX_ALGORITHMS} at most, by larger steps"
        )
    yield from (f"{name}:{','.join(each)}" for each in combinations)


def split_algorithms(given: str | Collection[str]) -> tuple[str, ...]:
    """Split at commas, except before `name=value`, which continues the parameters of the algorithm before it.

    UserError where Python code passed neither a text nor a list of texts, or where no name is left.
    """
    parts: list[str] = []
    try:
        text = given if isinstance(given, str) else ",".join(given)
    except TypeError:
        raise UserError(f"algorithms={given!r} is no list of names", 'write for example ["default", "ring"]') from None
    for part in filter(None, (part.strip() for part in text.split(","))):
        is_parameter = "=" in part.partition(":")[0]  # of an algorithm with parameters the colon comes first
        if is_parameter and parts:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    if not parts:
        raise UserError("no algorithm is named", "write 'all', or a list such as default,ring")
    return tuple(parts)
