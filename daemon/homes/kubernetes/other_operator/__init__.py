"""Detects another operator that works on the same objects, and keeps both from doing so."""
