"""A cluster inside one Linux machine: network namespaces as nodes, links with a set rate, and real Slurm."""
