"""The JSON schema of rules files, where the library's installation has it.

The library's reader does not use the schema, and reads keys that the schema forbids. So what the schema objects to is a
note. The schema of August 2026 is no valid one: it names a list of choices by a reference, where a list must stand.
"""

import json
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from timpani.errors import UserError, printable, shortened
from timpani.libraries.tuning_file import Fault
from timpani.native.mpi import Mpi
from timpani.reading import read_bytes

SCHEMA_FILE = "tuned_dynamic_file_schema.json"

_PLACES = ("share/openmpi", "share/doc/openmpi", "share/doc/openmpi/tuning-apps")
"""Below the folder of the installation."""

_MAX_SHOWN = 5


def schema_faults(text: str, mpi: Mpi) -> Iterator[Fault]:
    """What the schema of `mpi` objects to in `text`; nothing where it has none, or where `text` is no strict JSON."""
    path = next((each for each in _paths(mpi) if each.is_file()), None)
    if path is None:
        return
    jsonschema = import_module("jsonschema")  # it takes 0.1 s, and few installations have a schema
    validator = jsonschema.Draft201909Validator
    try:
        document = json.loads(text)
        schema = _corrected(json.loads(read_bytes(path, "install the library whole")))
        validator.check_schema(schema)
    except (jsonschema.SchemaError, RecursionError, ValueError, OSError, UserError) as error:
        why = getattr(error, "message", str(error))
        what = f"the library's schema {path} can't be used: {shortened(why, 80)}"
        yield Fault("note", None, printable(what), "only Timpani's checks are made", "nothing is to be done")
        return
    for each in islice(validator(schema).iter_errors(document), _MAX_SHOWN):
        where = "/".join(map(str, each.absolute_path)) or "the document"
        what = f"the library's schema objects at {where}: {shortened(each.message, 120)}"
        consequence = "the library's reader does not use the schema"
        yield Fault("note", None, printable(what), consequence, "editors that use the schema mark this place")


def _corrected(schema: Any) -> Any:
    """`schema` with lists of choices in place of references to them."""
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
    choices = {f"#/$defs/{name}": each for name, each in definitions.items() if isinstance(each, list)}

    def correct(value: Any) -> Any:
        if isinstance(value, list):
            return [correct(each) for each in value]
        if not isinstance(value, dict):
            return value
        if isinstance(named := value.get("anyOf"), dict) and named.get("$ref") in choices:
            value = {**value, "anyOf": choices[named["$ref"]]}
        return {name: correct(each) for name, each in value.items() if f"#/$defs/{name}" not in choices}

    return correct(schema)


def _paths(mpi: Mpi) -> Iterator[Path]:
    root = mpi.mpirun.resolve().parent.parent
    yield from (root / place / SCHEMA_FILE for place in _PLACES)
