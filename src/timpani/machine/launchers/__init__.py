"""Starting ranks: by the library's launcher, by Slurm, in a lab, or simulated.

Imports: nodes, platforms.
"""
