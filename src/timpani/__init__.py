"""Timpani times MPI: which algorithm each collective should use here, how sure that is, and what it gains."""

__version__ = "0.1.0"
