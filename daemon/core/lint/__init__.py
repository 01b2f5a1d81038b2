"""Runtime warnings of `syncret validate`: about manifests that admission accepts, and that fail later."""
