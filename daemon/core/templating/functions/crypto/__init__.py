"""Template functions for keys, certificates, passwords and keystores."""
