"""Predicts the times of Timpani's algorithms from measured costs and simulated schedules."""
