"""The HTML report: its contents, sections and figures, and the page that holds them.

Imports: document, figures, fit, tables, verdict, words.
"""
