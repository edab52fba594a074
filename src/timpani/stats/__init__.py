"""Statistics over arrays: quantiles, samples, comparisons of launches; models of time against size and ranks."""
