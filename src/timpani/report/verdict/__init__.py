"""The verdict on a campaign in words: the answer, gains, the race, messages between ranks; changes of two.

Imports: document, figures, fit, tables.
"""
