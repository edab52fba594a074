"""What a campaign measures: cells grouped by the launch that measures them, with their cost.

Imports: nothing.
"""
