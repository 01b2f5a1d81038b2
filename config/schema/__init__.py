"""Schemas: validation, defaulting and pruning of documents, and their export as OpenAPI."""
