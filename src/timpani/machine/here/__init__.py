"""This computer and what it is part of, as it is found.

Imports: batch, launchers, nodes.
"""
