"""The six tabs."""
