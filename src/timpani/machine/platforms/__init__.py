"""Machines simulated by SimGrid: shipped platforms, and platform files as machines.

Imports: nodes.
"""
