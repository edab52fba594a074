"""One kind of figure per file: data frame in, Altair chart out."""
