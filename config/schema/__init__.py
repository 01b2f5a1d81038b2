"""Schemas: what a document must look like, and what is wrong where it does not."""
