"""Benchmarks of the product itself."""
