"""The endpoints of an API, as a table: one line has the request, and the hint if it is refused."""

from typing import NamedTuple


class Endpoint(NamedTuple):
    """One endpoint.

    READ = Endpoint("GET", "/projects/{project}/variables/{key}", "reading variable {key}")
    """

    method: str
    path: str
    """Below the store's URL; what stands in braces becomes one segment, quoted."""
    doing: str
    """The beginning of every message; names in braces as in the path, or others of the call."""
    grant: str = ""
    """The permission that the call needs, for the hint."""
    check: str = ""
    """The hint if nothing is at the address; empty: that of the whole API."""


def literal(text: str) -> str:
    """A path or message with its braces escaped: for paths of several quoted segments."""
    return text.replace("{", "{{").replace("}", "}}")
