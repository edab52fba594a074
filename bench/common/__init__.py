"""What several benchmarks use: the product as a command, drawn machines and curves, and the regret of choices."""
