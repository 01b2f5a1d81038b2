"""Measures what docs/performance.md promises: `python -m bench`, or `make bench`."""
