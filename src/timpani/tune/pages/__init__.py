"""What `timpani tune` and `timpani confirm` print and write as pages.

Imports: nothing.
"""
