"""Logins that several providers share: expiring tokens, JWTs, signed requests."""
