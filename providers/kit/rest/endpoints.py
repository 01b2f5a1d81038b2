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
    """What begins every message; in braces as in the path, or what else the call names."""
    grant: str = ""
    """What to grant to an identity that may not."""
    check: str = ""
    """What to check if nothing is at the address; without it, what holds for the whole API."""


def literal(text: str) -> str:
    """A path or what is being done as it stands, braces included: for paths of several quoted segments."""
    return text.replace("{", "{{").replace("}", "}}")
