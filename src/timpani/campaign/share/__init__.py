"""Campaigns for others: copies without names of hosts and users.

Imports: folder.
"""
