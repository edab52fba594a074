"""Profiles that mpiP and mpisee wrote.

Imports: profile.
"""
