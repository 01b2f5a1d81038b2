"""Delivery on a host: paths that are safe to write to, and sets of files that go live at once, or back."""
