"""Where Timpani measures: this computer's cores, launchers, machine files, and checks before measuring."""
