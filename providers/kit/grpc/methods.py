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
    """What begins every message; in braces what the call names."""
    grant: str = ""
    """What to grant to an identity that may not."""
