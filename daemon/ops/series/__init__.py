"""Metrics besides those of objects, queue and stores: one module for each part of the daemon."""
