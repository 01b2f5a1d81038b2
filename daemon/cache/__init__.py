"""The offline cache of a host: what was delivered and read, encrypted, for a time without secret managers."""
