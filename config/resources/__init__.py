"""One model per kind of resource."""
