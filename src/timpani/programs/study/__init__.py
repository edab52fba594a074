"""What measures the calls of a profile, and what other algorithms would save.

Imports: profile.
"""
