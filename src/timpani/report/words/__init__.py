"""Campaigns as plain text, tables and files; words and numbers that several outputs share.

Imports: document, figures, tables.
"""
