"""Template functions for strings."""
