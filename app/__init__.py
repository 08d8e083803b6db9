"""Slowscope: four readers collect evidence, one judge names the fault, one writer reports it."""
