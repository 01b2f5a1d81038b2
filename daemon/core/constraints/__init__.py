"""Constraints on secret values: read strictly, and checked without disclosing a value."""
