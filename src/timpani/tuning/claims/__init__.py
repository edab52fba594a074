"""Conclusions of studies as claims, checked with times.

Imports: nothing.
"""
