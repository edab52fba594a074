"""`python -m timpani`, where the installed command is not on PATH."""

from timpani.cli import main

main()
