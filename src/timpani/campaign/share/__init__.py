"""Campaigns for others: copies without names of hosts and users, and campaigns merged into one.

Imports: folder, osu, read.
"""
