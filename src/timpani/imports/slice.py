"""What this slice adds; `timpani/slices.py` says how."""

BENCHMARK_IMPORT = ("timpani.imports.log_import:import_files",)
