"""Decisions: the best algorithm at each point, its gain, the verdict and the selection table."""
