"""Delivery: what files, env files and variables are made from values, and when a set of them goes live."""
