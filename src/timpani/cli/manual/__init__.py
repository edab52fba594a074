"""Every command as its help describes it, and the pages for `man` that are made from it.

Imports: nothing.
"""
