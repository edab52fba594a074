"""Fitted models as text, as JSON and as a section of the report.

Imports: document, figures, tables.
"""
