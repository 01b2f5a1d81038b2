"""YAML and JSON, read and written as Kubernetes does."""
