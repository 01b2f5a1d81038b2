"""Dynamic exports: what a resource's `operatorSpec` wants written, by expressions in CEL."""
