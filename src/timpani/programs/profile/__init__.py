"""What a program called, as a folder: its lines, the points to measure, and how late ranks come.

Imports: nothing.
"""
