"""Servers as settings name them: `https://vault.example.com:8200`, `*.vault.azure.net`, `http://[::1]:8200`."""

import re
from typing import Final, NamedTuple

_SERVER: Final = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>[\w*-]+(?:\.[\w*-]+)*|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<rest>[/?#].*)?",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
_PORTS: Final = {"https": 443, "http": 80}
_ANY: Final = "*"


class Server(NamedTuple):
    """Scheme, host and port; a label `*` of a pattern stands for any one label."""

    scheme: str
    labels: tuple[str, ...]
    port: int

    def covers(self, other: "Server") -> bool:
        """Whether this pattern stands for the other server."""
        return (
            (self.scheme, self.port) == (other.scheme, other.port)
            and len(self.labels) == len(other.labels)
            and all(mine in {_ANY, their} for mine, their in zip(self.labels, other.labels, strict=True))
        )

    def __str__(self) -> str:
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{'.'.join(self.labels)}{port}"


def server_pattern(text: str) -> Server | None:
    """The pattern; without a scheme https is meant. None if it is none, or has a path."""
    found = _SERVER.fullmatch(text.strip().rstrip("/"))
    if found is None or found["rest"] or not _stars_are_labels(found["host"]):
        return None
    return _server(found["scheme"] or "https", found["host"], found["port"])


def server_of(url: str) -> Server | None:
    """The server of a URL, whatever its path. None for one that could be read in more than one way.

    Parsers of URLs disagree about user names, backslashes, white space and characters beyond ASCII. What is
    None is never covered by a pattern.
    """
    found = _SERVER.fullmatch(url)
    if found is None or not found["scheme"] or _ANY in found["host"]:
        return None
    return _server(found["scheme"], found["host"], found["port"])


def _stars_are_labels(host: str) -> bool:
    return all(label == _ANY or _ANY not in label for label in host.split("."))


def _server(scheme: str, host: str, port: str | None) -> Server | None:
    scheme, host = scheme.lower(), host.lower()
    labels = (host,) if host.startswith("[") else tuple(host.split("."))
    number = int(port) if port else _PORTS[scheme]
    return Server(scheme, labels, number) if 0 < number <= 65535 else None  # noqa: PLR2004  # the largest port
