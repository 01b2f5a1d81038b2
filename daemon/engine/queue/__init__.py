"""The work queue: which object runs next, and when."""
