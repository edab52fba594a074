"""What the shell offers after TAB, without asking a library or compiler: studies, operations, algorithms, folders.

Each function is typer's `autocompletion` of a parameter: it returns the words that may stand there and begin with what
was typed.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import typer

from timpani.libraries.catalogue import composed_catalogue, known_names
from timpani.slices import Hook
from timpani.study.cell import COMPOSED, DEFAULT, OWN
from timpani.study.compose import shipped_studies
from timpani.study.operations import COLLECTIVES, OPERATIONS
from timpani.study.study import ALL

Words = list[tuple[str, str]]
"""Words that may stand at a place, and what each means."""

_MAX_ENTRIES = 1000
"""Folders and bundles that are read: TAB answers at once in a folder of a million, too."""

_MARKS = {
    "campaign": "campaign.json",
    "predictions": "predictions.json",
    "profile": "profile.json",
    "tuned folder": "table.json",
}
"""What a folder is, and the file that shows it. The modules that write it load libraries for which TAB has no time."""

_BUNDLE = ".timpani.zip"


def complete_what(incomplete: str) -> Words:
    """A study that Timpani ships, or an operation."""
    return [*_beginning(((each.name, "study") for each in shipped_studies()), incomplete), *_operations(incomplete)]


def complete_collective(incomplete: str) -> Words:
    """A collective."""
    return _beginning(((name, each.title) for name, each in COLLECTIVES.items()), incomplete)


def _complete_places(*kinds: str) -> Callable[[str], Words]:
    """What offers folders of these kinds, bundles where campaigns are among them, and folders on the way."""

    def complete(incomplete: str) -> Words:
        typed = Path(incomplete)
        folder = typed if incomplete.endswith("/") else typed.parent
        prefix = incomplete[: len(incomplete) - len(typed.name)] if not incomplete.endswith("/") else incomplete
        found: Words = []
        try:
            held = sorted(path for path in folder.iterdir() if path.is_dir() or _is_bundle(path))
            for each in islice(held, _MAX_ENTRIES):
                if kind := next((kind for kind in kinds if (each / _MARKS[kind]).is_file()), None):
                    found.append((f"{prefix}{each.name}", kind))
                elif "campaign" in kinds and _is_bundle(each):
                    found.append((f"{prefix}{each.name}", "bundle"))
                elif any(next(each.glob(f"*/{_MARKS[kind]}"), None) for kind in kinds):
                    found.append((f"{prefix}{each.name}/", "folder"))
        except OSError:  # a folder that doesn't exist, or can't be read
            return []
        return _beginning(found, incomplete)

    return complete


def _is_bundle(path: Path) -> bool:
    return path.name.endswith(_BUNDLE)


complete_campaign = _complete_places("campaign")
complete_predictions = _complete_places("predictions", "campaign")
complete_profile = _complete_places("profile")
complete_tuned = _complete_places("tuned folder")


def complete_machine_campaign(incomplete: str) -> Words:
    """The campaign of `[MACHINE=]CAMPAIGN`."""
    machine, equals, typed = incomplete.rpartition("=")
    return [(f"{machine}{equals}{word}", meaning) for word, meaning in complete_campaign(typed)]


def complete_campaign_or_what(incomplete: str) -> Words:
    """A campaign's folder, a study or an operation."""
    return [*complete_campaign(incomplete), *complete_what(incomplete)]


def complete_algorithms(context: typer.Context, incomplete: str) -> Words:
    """The last one of a list of algorithms, of the operations that were typed before."""
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
    own = known_names().get(OWN, {})
    return _beginning(((f"{c}/{name}", "") for c, names in own.items() for name in names), incomplete)


_PUBLISHED_TITLES: Hook[Callable[[], dict[str, str]]] = Hook("PUBLISHED_TITLES")
"""By name the titles of published tables."""


def complete_published(incomplete: str) -> Words:
    """A published table or study of the package."""
    return _beginning((each for titles in _PUBLISHED_TITLES.added() for each in titles().items()), incomplete)


def _operations(incomplete: str) -> Words:
    return _beginning(((name, each.title) for name, each in OPERATIONS.items()), incomplete)


def _algorithms() -> dict[str, list[str]]:
    """By collective: each provider's algorithms as they are typed."""
    composed = {name: [each.name for each in found] for name, found in composed_catalogue().algorithms.items()}
    found: dict[str, list[str]] = {}
    for provider, listed in {**known_names(), COMPOSED: composed}.items():
        for collective, names in listed.items():
            found.setdefault(collective, []).extend(f"{provider}/{name}" for name in names)
    return found


def _beginning(words: Iterable[tuple[str, str]], incomplete: str) -> Words:
    return [(word, meaning) for word, meaning in words if word.startswith(incomplete)]
