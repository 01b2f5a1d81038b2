"""The file system, for all that writes files: system calls that Python lacks. Imports no home."""
