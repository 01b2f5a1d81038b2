"""The outputs of a host: files written, compared and repaired."""
