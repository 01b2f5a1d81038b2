"""The commands of the command line, one module each; none imports another."""
