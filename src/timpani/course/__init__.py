"""Assignments for students: an algorithm to write, and how it is checked and graded."""
