"""A cluster in a bottle: manifests through time, with the engine, controllers and admission of the daemon."""
