"""A cluster in a bottle: manifests through time, with the same engine, controllers and admission as the daemon."""
