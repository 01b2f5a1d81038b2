"""What a template can call besides Go's own: a module per family, all declared as `contract` says."""
