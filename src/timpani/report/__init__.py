"""The HTML report; text, OSU and other tables."""
