"""The window: shows values, computes nothing."""
