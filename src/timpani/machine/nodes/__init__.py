"""A machine as data: nodes, the sets and host files that name them, and where ranks go on them.

Imports: nothing.
"""
