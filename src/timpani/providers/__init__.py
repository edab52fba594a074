"""The algorithms that are not a library's own: ours, compositions, messages, transposes, rules; and their verifier."""
