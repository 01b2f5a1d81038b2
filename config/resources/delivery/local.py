"""Addresses on this host, the only ones that reload and healthy may use: the loopback and socket files."""

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

LOCALHOST: Final = "localhost"
_UNIX: Final = "unix:"


def socket_path(address: str) -> str:
    """The path of a socket file; empty if the address is none."""
    return address.removeprefix(_UNIX) if address.startswith(_UNIX) else ""


def host_and_port(address: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:443` or `[::1]:443`. Raises ValueError unless both are there and local."""
    parts = urlsplit(f"//{address}")
    host, port = parts.hostname, parts.port
    if not host or port is None:
        raise ValueError("must have a host and a port")
    if host == LOCALHOST:
        return "127.0.0.1", port
    if not _is_loopback(host):
        raise ValueError("must be on the loopback of this host")
    return host, port


def problem_of_address(address: str) -> str:
    """What is wrong with an address; empty if nothing is."""
    if socket_path(address):
        return "" if socket_path(address).startswith("/") else "the path of a socket must be absolute"
    try:
        host_and_port(address)
    except ValueError as error:
        return str(error)
    return ""


def problem_of_url(url: str) -> str:
    """What is wrong with the address of a request; empty if nothing is."""
    if socket_path(url):
        return problem_of_address(url)
    parts = urlsplit(url)
    try:
        port = parts.port or 80
    except ValueError as error:
        return str(error)
    host = parts.hostname or ""
    return problem_of_address(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
