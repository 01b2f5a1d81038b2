"""The plan of an ExternalSecret: what is next, what to write, what to report."""
