"""Predicted times as text, JSON, page and figure, alone or compared with measured times.

Imports: tables, words.
"""
