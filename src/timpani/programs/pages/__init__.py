"""What a program called, and where its time in MPI passed.

Imports: profile.
"""
