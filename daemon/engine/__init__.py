"""The engine: what is wanted, when it is due, and the workers that make it so."""
