"""The explanation that `syncret explain` prints."""
