"""The kind Delivery: what becomes of values on a host."""
