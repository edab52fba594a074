"""What the shell offers after TAB: studies, operations, algorithms and campaigns, without asking a library or compiler.

Each function is typer's `autocompletion` of a parameter: it returns the words that may stand there and begin with what
was typed.
"""

from collections.abc import Iterable
from pathlib import Path

import typer

Words = list[tuple[str, str]]
"""Words that may stand at a place, and what each means."""

_MAX_FOLDERS = 1000
"""Folders in which a campaign is searched for: TAB answers at once in a folder of a million files, too."""


def complete_what(incomplete: str) -> Words:
    """A study that Timpani ships, or an operation."""
    from timpani.study.shipped import shipped_studies

    return [*_beginning(((each.name, "study") for each in shipped_studies()), incomplete), *_operations(incomplete)]


def complete_collective(incomplete: str) -> Words:
    """A collective."""
    from timpani.study.operations import COLLECTIVES

    return _beginning(((name, each.title) for name, each in COLLECTIVES.items()), incomplete)


def complete_campaign(incomplete: str) -> Words:
    """A campaign's folder, or a folder on the way to one."""
    from itertools import islice

    typed = Path(incomplete)
    folder = typed if incomplete.endswith("/") else typed.parent
    prefix = incomplete[: len(incomplete) - len(typed.name)] if not incomplete.endswith("/") else incomplete
    found: Words = []
    try:
        for each in islice(sorted(path for path in folder.iterdir() if path.is_dir()), _MAX_FOLDERS):
            if (each / "campaign.json").is_file():
                found.append((f"{prefix}{each.name}", "campaign"))
            elif next(each.glob("*/campaign.json"), None) is not None:
                found.append((f"{prefix}{each.name}/", "folder with campaigns"))
    except OSError:  # a folder that doesn't exist, or can't be read
        return []
    return _beginning(found, incomplete)


def complete_campaign_or_what(incomplete: str) -> Words:
    """A campaign's folder, a study or an operation."""
    return [*complete_campaign(incomplete), *complete_what(incomplete)]


def complete_algorithms(context: typer.Context, incomplete: str) -> Words:
    """The last one of a list of algorithms, of the operations that were typed before."""
    from timpani.study.cell import DEFAULT
    from timpani.study.study import ALL

    before, comma, last = incomplete.rpartition(",")
    typed = [*(context.params.get("what") or ()), *context.args]  # before an option without its value, click keeps args
    collectives = {name.lower().removeprefix("mpi_") for name in typed}
    general = [(DEFAULT, "what the library chooses")] + ([] if comma else [(ALL, "every algorithm")])
    named = [
        (word, collective)
        for collective, names in _algorithms().items()
        if not collectives or collective in collectives
        for word in names
    ]
    known = dict(reversed([*general, *named]))
    return [(f"{before}{comma}{word}", meaning) for word, meaning in _beginning(sorted(known.items()), last)]


def complete_own_algorithm(incomplete: str) -> Words:
    """One of Timpani's algorithms with its collective: bcast/knomial."""
    from timpani.providers.known_names import known_names
    from timpani.study.cell import OWN

    own = known_names().get(OWN, {})
    return _beginning(((f"{c}/{name}", "") for c, names in own.items() for name in names), incomplete)


def complete_published(incomplete: str) -> Words:
    """A published table or study of the package."""
    import tomllib
    from importlib import resources

    sources = (resources.files("timpani") / "published" / "sources.toml").read_text(encoding="utf-8")
    return _beginning(((name, table["title"]) for name, table in tomllib.loads(sources).items()), incomplete)


def _operations(incomplete: str) -> Words:
    from timpani.study.operations import OPERATIONS

    return _beginning(((name, each.title) for name, each in OPERATIONS.items()), incomplete)


def _algorithms() -> dict[str, list[str]]:
    """By collective: each provider's algorithms as they are typed."""
    from timpani.providers.composed import composed_catalogue
    from timpani.providers.known_names import known_names
    from timpani.study.cell import COMPOSED

    composed = {name: [each.name for each in found] for name, found in composed_catalogue().algorithms.items()}
    found: dict[str, list[str]] = {}
    for provider, listed in {**known_names(), COMPOSED: composed}.items():
        for collective, names in listed.items():
            found.setdefault(collective, []).extend(f"{provider}/{name}" for name in names)
    return found


def _beginning(words: Iterable[tuple[str, str]], incomplete: str) -> Words:
    return [(word, meaning) for word, meaning in words if word.startswith(incomplete)]
