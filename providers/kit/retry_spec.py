"""How a resource asks for failed calls to be repeated."""

from syncret.config.fields import Int32, Model


class RetrySettings(Model):
    """How often a failed call is repeated, and how long after; absent: as the provider sees fit."""

    max_retries: Int32 | None = None
    retry_interval: str = ""
    """A Go duration such as `10s`."""
