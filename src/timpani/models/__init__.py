"""Models of time against message size and ranks: pure functions over arrays and frames."""
