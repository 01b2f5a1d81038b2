"""The parser of the command line, and what is generated from it: completion and the man page."""
