"""What would spoil a measurement, and whether ranks ran where they were asked to.

Imports: here, nodes.
"""
