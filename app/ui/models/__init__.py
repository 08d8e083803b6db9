"""Qt item models over core values."""
