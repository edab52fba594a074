"""The verdict on a campaign in words: the answer, gains, what a race reached, messages between ranks.

Imports: document, figures, tables, words.
"""
