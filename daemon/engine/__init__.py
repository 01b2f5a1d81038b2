"""The engine: decides which object is reconciled when, and runs the reconcilers."""
