"""Statistics over arrays: intervals of quantiles, summaries of samples, comparisons of launches."""
