"""A cluster: objects are those of an API server, which answers writes at once and tells of them later."""
