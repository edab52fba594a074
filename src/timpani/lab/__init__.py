"""A cluster inside one Linux machine: nodes are network namespaces, links have a set rate, Slurm is real."""
