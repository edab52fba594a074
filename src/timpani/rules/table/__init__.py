"""The selection table as files: read, written, and made from campaigns.

Imports: nothing.
"""
