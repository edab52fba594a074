"""What native programs show of Timpani's algorithms: their list, their messages in time, and whether they are right.

Imports: nothing.
"""
