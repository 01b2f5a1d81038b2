"""The plan of an ExternalSecret: the next step, the writes, the report."""
