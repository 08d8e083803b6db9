"""llama.cpp's graph in miniature: built, split and allocated as the program does, sizes alone."""
