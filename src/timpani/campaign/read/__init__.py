"""Tables from a campaign folder: one row per cell, and what is known about its conditions.

Imports: folder, plan.
"""
