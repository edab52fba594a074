"""How ranks are started: by Slurm, in a lab, simulated, or by the library's launcher.

Imports: nodes, platforms.
"""
