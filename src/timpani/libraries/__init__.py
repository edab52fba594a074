"""What is known of each MPI library: one folder a library, asked by all others through `library.py`."""
