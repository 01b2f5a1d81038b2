"""Measures on a real API server with a real Vault: ours alone, and beside the operator."""
