"""Options that several commands have."""

from typing import Annotated

import typer

Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]
