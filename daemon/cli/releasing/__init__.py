"""What `syncret release` does beside the pure compiler: it reads files, and asks for the values of tags."""
