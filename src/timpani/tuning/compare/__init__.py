"""Two tables of times compared: agreement, changes, similarity.

Imports: decide.
"""
