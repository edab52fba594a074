"""What to measure: algorithms, cells, sizes and study files."""
