"""Programs that the Makefile and developers run on this repository."""
