"""Logins at Google: keys, workload identity, federation, impersonation. The machine's: `kit.ambient`."""
