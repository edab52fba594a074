"""A program started with the preloaded library: profiled, or in blocks with and without a choice.

Imports: profile.
"""
