"""Algorithms as schedules: listed, verified, simulated, drawn, predicted, and named by the messages they send.

Imports: algorithms, predict.
"""
