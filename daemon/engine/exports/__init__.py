"""Exports of resources: the run of one resource, batches of expressions, and the secrets that they need."""
