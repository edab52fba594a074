"""Confirm tuning files by a new measurement: the study and its results.

Imports: table.
"""
