"""Ask the machine, one source a file; what cannot be read is a value with a reason."""
