"""Which datatype a campaign's study gives an operation."""

from collections.abc import Mapping
from typing import Any

from timpani.study.study import DATATYPES


def datatype_of(study: Mapping[str, Any], operation: str) -> str:
    """The operation's own, or else the study's; `study` is the header's. An imported one may be in MPI's name."""
    own = (study.get("overrides") or {}).get(operation) or {}
    return str(own.get("datatype") or study.get("datatype", "uint8"))


def element_bytes_of(study: Mapping[str, Any], operation: str) -> int:
    """Bytes of an element of `datatype_of`, which must be one of DATATYPES."""
    return DATATYPES[datatype_of(study, operation)]
