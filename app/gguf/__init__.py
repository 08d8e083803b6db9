"""Reads GGUF headers: keys, tensors, limits; never the weights."""
