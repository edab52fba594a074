"""What our schedules do, asked of the native programs."""
