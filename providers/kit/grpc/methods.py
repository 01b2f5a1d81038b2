"""The methods of an API, as a table: one line has the call, and the hint if it is refused."""

from typing import NamedTuple


class Method(NamedTuple):
    """One method.

    READ = Method("acme.v1.Secrets", "Get", "reading secret {name}", "let the account read secrets")
    """

    service: str
    """With its package."""
    name: str
    doing: str
    """The beginning of every message; in braces names of the call."""
    grant: str = ""
    """The permission that the call needs, for the hint."""
