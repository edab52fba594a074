"""The tables of a campaign: which rows and columns each has; and in which words conditions stand in them.

Imports: document, figures.
"""
