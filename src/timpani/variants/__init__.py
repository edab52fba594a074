"""Other settings of a library, which compete with the default: prepared, checked, and judged."""
