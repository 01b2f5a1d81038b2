"""Dynamic exports: Secrets and ConfigMaps of a resource's `operatorSpec`, by expressions in CEL."""
