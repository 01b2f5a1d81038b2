"""Azure for each test, at the tests' own clock, and what resources there have."""

from tests.support.servers.azure.fixtures import clock, cloud

__all__ = ["clock", "cloud"]
