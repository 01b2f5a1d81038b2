"""What `syncret explain` says of an object."""
