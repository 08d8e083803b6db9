"""Read logs of any size and say what their lines state."""
