"""Campaigns for others: the names that their files hold, and campaigns merged into one.

Imports: folder, read.
"""
