"""Whether the files keep their promise: the study that confirms them, and its result.

Imports: table.
"""
