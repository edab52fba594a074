"""Find an MPI library and build Timpani's native programs for it."""
