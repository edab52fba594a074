"""Decisions: which algorithm is best where, which are tied with it, and what it gains over the default."""
