"""Credentials of systemd: answered on a socket while a unit starts, or sealed into files."""
