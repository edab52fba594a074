"""Tables: which rows and columns each has, and how one is written as text, Markdown, LaTeX and CSV.

Imports: figures.
"""
