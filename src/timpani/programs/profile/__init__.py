"""What a program called, as a folder; the points to measure for it, and what other algorithms would save.

Imports: nothing.
"""
