"""What this slice adds; `timpani/slices.py` says how."""

COMMANDS = ("timpani.studies.command_list:COMMANDS",)
STUDY_FILES = ("timpani.studies.sources:STUDY_FILES",)
PUBLISHED_TITLES = ("timpani.studies.sources:published_titles",)
PUBLISHED_COMPARISON = ("timpani.studies.comparison:compared_with_published",)
PUBLISHED_IMPORT = ("timpani.studies.tables:import_published",)
PUBLISHED_FITS = ("timpani.studies.fits:StudyFit.read",)
IMPORT_DOUBTS = ("timpani.studies.tables:doubts_of_import",)
REPORT_SECTIONS = ("timpani.studies.comparison:study_section",)
