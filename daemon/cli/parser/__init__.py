"""The grammar of the command line, its completion and its man page."""
