"""The expression language: all of it runs in worker processes, see calls.py."""
