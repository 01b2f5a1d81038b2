"""Code that Vault and its fork OpenBao share: requests, tokens, leases, and the key-value engine."""
