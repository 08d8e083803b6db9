"""Fuzzing of reader, planner and --fit: `python -m tests.fuzz`, and what it found as tests."""
