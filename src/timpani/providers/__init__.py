"""Algorithms that belong to no library: Timpani's, compositions, messages, transposes, rules; and their verifier."""
