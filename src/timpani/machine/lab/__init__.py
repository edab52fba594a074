"""A cluster of network namespaces inside this machine: planned as data, made, entered, taken down; Slurm in it.

Imports: nothing.
"""
