"""Batch systems: which nodes a job has, and the script of a job; a job handed to Slurm and followed.

Imports: lab, nodes.
"""
