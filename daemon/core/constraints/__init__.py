"""Constraints on secret values: read strictly, and checked without a value ever being told."""
