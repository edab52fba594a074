"""A slice: campaigns from what benchmarks of others printed, OSU's, Intel's, ReproMPI and PICO."""
