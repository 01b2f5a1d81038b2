"""Processes of this host, or of a pod that shares them: found, signalled, and waited for."""
