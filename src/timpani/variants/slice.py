"""What this slice adds; `timpani/slices.py` says how."""

VARIANTS = ("timpani.variants.named:VARIANTS",)
CAMPAIGN_WARNINGS = ("timpani.variants.setting:unchanged_warnings",)
VERDICT_LINES = ("timpani.variants.setting:verdict_lines",)
WINNING_SETTINGS = ("timpani.variants.setting:setting_of",)
REPORT_SECTIONS = ("timpani.variants.setting:variant_section",)
