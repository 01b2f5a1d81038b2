"""What `status`, `explain` and `refresh` do with `--kubernetes`: they ask the API server, and no daemon."""
