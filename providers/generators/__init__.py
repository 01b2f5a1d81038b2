"""Generators: values that are drawn, not read."""
