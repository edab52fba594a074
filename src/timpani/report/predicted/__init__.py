"""Predicted times as text, JSON, page and figure, alone or compared with measured times.

Imports: document, figures, tables, words.
"""
