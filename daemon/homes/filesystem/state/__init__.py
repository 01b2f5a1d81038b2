"""The state file of a host: what was last known of every object."""
