"""A cluster inside this machine: planned, made, measured on and taken down."""
