"""This computer and its surroundings, as detected.

Imports: batch, launchers, nodes.
"""
