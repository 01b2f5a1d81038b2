"""The pod of a release: containers whose variables and mounts refer to Secrets, and the volumes for them."""
