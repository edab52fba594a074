"""What an MPI library offers, asked of the library itself, and how each of its algorithms is forced."""
