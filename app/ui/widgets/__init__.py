"""Drawn and composed widgets."""
