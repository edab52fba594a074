"""In which order a reduction adds: read from outside, drawn, named, and what follows for reproducible results."""
