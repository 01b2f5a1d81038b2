"""Manifests: files and folders read into documents, each with its file and line."""
