"""What a library is handed: files made of decisions, how to switch them on, and whether they keep their promise."""
