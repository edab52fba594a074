"""Checks for conditions that spoil a measurement, and whether ranks ran where requested.

Imports: here, nodes.
"""
