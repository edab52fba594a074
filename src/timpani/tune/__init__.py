"""Tuning files for a library: generate them from a campaign's decisions, switch them on, and confirm them."""
