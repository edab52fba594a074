"""The HTML report: its contents, sections and figures, and the page that holds them; figures and tables as files.

Imports: document, figures, fit, tables, verdict.
"""
