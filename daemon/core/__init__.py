"""The pure core: decisions without I/O, clock or randomness; the caller passes what they need."""
