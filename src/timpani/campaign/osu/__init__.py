"""Campaigns from what others measured: OSU logs and published tables.

Imports: folder, read.
"""
