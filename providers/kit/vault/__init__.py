"""What Vault and its fork OpenBao have in common: the wire, the token, and the key-value engine."""
