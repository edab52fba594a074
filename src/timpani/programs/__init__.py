"""A user's program: what it calls, as a folder; the study that measures that; runs of the program in blocks."""
