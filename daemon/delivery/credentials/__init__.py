"""Credentials of systemd: served on a socket while a unit starts, or sealed into files."""
