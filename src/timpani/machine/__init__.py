"""Where Timpani measures: the cores here, the launchers, and what would spoil a measurement."""
