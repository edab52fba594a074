"""What commands share: options, progress, exit status, names of folders.

Imports: nothing.
"""
