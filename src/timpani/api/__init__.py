"""What Python programs and notebooks use: campaigns opened as tables and figures, and measured."""
