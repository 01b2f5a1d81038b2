"""When an object is due."""
