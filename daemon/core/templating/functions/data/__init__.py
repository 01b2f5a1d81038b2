"""Template functions for numbers, lists, dicts, JSON, YAML and URLs."""
