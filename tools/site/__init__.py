"""The manual as an offline site: `make site`. `navigation` → `gallery` → `pages` → `__main__`."""
