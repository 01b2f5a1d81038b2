"""Plans: for each kind, what to do next and what to write, decided without any I/O."""
