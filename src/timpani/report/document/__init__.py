"""Documents: what a command prints and a page shows, as blocks; the renderers of each format; files of a user.

A producer yields blocks of `blocks.py`, and knows no format:

    yield Sentence("answer", f"The default is fine at {fine} of {points} points.", {"fine": fine, "points": points})
    yield Table("times", ("size", "median µs"), rows([(Value(8, show=show_size), Value(1.52, 1.4, 1.6))]))
    yield NextCommand("next", "timpani tune", "Write rules")

`formats.render(Document(title, tuple(blocks)), "latex")` makes text of them. Tests ask a document for a block by its
name and assert its values: `document["answer"].values["fine"] == 3`, `document["times"].column("median µs")`. Numbers
stay numbers until a renderer prints them with their own `show`, so that CSV and JSON have them in full.

Imports: nothing.
"""
