"""The campaign folder on disk: header, sealed lines, records, repair; written by `store`, read by `load`.

Imports: nothing.
"""
