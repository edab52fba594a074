"""What our algorithms should take, from costs that a campaign measured and schedules that are simulated."""
