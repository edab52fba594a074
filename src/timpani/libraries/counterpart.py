"""What a library's algorithm is called where another library, or SimGrid, takes its part."""

from timpani.libraries.canonical_names import canonical_names
from timpani.libraries.registry import LIBRARIES
from timpani.study.cell import DEFAULT, Algorithm


def counterpart(collective: str, algorithm: Algorithm, kind: str) -> Algorithm:
    """What campaigns with the library `kind` have in the place of `algorithm`, another's or its own by any name.

    The default's counterpart is the default. Where nothing stands in, the canonical name of the same algorithm.
    """
    if algorithm.name == DEFAULT:
        return Algorithm(kind, DEFAULT)
    stand_ins = LIBRARIES[kind].stand_ins if kind in LIBRARIES else {}
    if text := stand_ins.get((collective, str(algorithm))):
        return Algorithm.parse(text)
    canonical, _ = canonical_names([algorithm.name])[algorithm.name]
    return Algorithm(kind, canonical, algorithm.parameters)
