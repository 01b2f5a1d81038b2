"""The I/O of `syncret release`: reads and writes files, and resolves tags."""
