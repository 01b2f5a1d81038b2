"""A running daemon to ask: the same as that of the tests of operations."""

from tests.unit.daemon.ops.conftest import apply, cluster, settings, view

__all__ = ["apply", "cluster", "settings", "view"]
