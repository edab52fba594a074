"""Measure a plan: launches, their processes and their records, whatever dies or hangs.

Imports: folder, plan.
"""
