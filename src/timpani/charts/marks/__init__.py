"""What figures share: axes, curves, intervals, theme, and the type of a figure.

Imports: nothing.
"""
