"""Races: which algorithms are measured further, when a point ends, and what a race reached.

Imports: nothing.
"""
