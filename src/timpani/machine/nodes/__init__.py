"""A machine as data: nodes, node sets and host files, and the placement of ranks.

Imports: nothing.
"""
