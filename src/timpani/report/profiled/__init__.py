"""What a program called, and where its time in MPI passed.

Imports: figures, page, tables, words.
"""
