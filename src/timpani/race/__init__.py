"""Races: which algorithms to measure again, when a point ends, and the results of a race."""
