"""What published studies measured and concluded: study files, tables, fits, and tests of the conclusions."""
