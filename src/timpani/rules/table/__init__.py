"""The selection table: generate it from campaigns, and read and write it and its tuning files.

Imports: nothing.
"""
