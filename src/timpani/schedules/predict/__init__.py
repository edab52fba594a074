"""Predicted times: costs estimated from whole calls, schedules simulated with them on any machine, and their error.

Imports: algorithms.
"""
