"""Rules beyond the measured rank counts, from predicted times.

Imports: nothing.
"""
