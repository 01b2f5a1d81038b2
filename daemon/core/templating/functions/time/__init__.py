"""Template functions for dates, and Go's time types with their methods."""
