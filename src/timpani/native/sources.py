"""Where the native sources are."""

from pathlib import Path


def sources() -> Path:
    """The native sources: inside an installed package, or the folder `native/` of a checkout."""
    installed = Path(__file__).parent / "sources"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "native"
