"""Figures: data frame in, Altair chart out. A file is a family; its constants of type `Figure` stand in the report.

Imports: nothing.
"""
