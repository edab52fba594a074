"""Machines simulated by SimGrid: the platforms shipped, and platform files read as machines.

Imports: nodes.
"""
