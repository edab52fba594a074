"""Studies' conclusions and agreement with published tables, as text and as JSON.

Imports: figures, tables, verdict.
"""
