"""A user's program: what it calls, as a folder; what its processes are started with."""
