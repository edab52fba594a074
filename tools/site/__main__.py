"""Build the manual as a site that works offline: `make site`."""

import os
import shutil
import subprocess
import sys

from tools.site.pages import ROOT, requests, write_pages, write_settings

FOLDER = ROOT / "build" / "site"
"""Each build replaces it."""


def main() -> int:
    """Build the site in the folder `html` next to its pages; the exit status, 1 where the site requests a network."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    pages, site, settings = FOLDER / "pages", FOLDER / "html", FOLDER / "mkdocs.yml"
    print("site: drawing all algorithms", file=sys.stderr)
    write_settings(settings, pages, site, write_pages(pages))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(settings)]
    status = subprocess.call(command, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if status != 0:
        return status
    for page, address in (requested := requests(site)).items():
        print(f"site: {page} requests {address}; the site must work offline", file=sys.stderr)
    if not requested:
        print(f"open {(site / 'index.html').relative_to(ROOT)}")
    return int(bool(requested))


if __name__ == "__main__":
    sys.exit(main())
