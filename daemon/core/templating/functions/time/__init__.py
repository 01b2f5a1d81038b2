"""Template functions for dates, and Go's time type."""
