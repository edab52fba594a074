"""What studies concluded, as claims that are checked against times.

Imports: nothing.
"""
