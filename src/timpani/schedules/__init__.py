"""What Timpani's schedules do, computed by the native programs."""
