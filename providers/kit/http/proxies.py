"""The proxy for a server, by the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as Go interprets them.

Python's own implementation lacks networks (10.0.0.0/8) in NO_PROXY, which clusters rely on.
"""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias

_Address: TypeAlias = IPv4Address | IPv6Address


def proxy_for(scheme: str, host: str, port: int, environment: Mapping[str, str]) -> str | None:
    """The URL of the proxy, or None.

    localhost is always reached directly, and so are link-local addresses, where clouds have their metadata
    servers: through a proxy one would log in as the proxy's machine.
    """
    proxy = _variable(environment, f"{scheme}_proxy")
    if not proxy or _direct(host, port, _variable(environment, "no_proxy")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name.upper()) or environment.get(name) or ""


def _direct(host: str, port: int, exceptions: str) -> bool:
    name = host.lower().rstrip(".")
    address = _address(name)
    if name == "localhost" or (address is not None and (address.is_loopback or address.is_link_local)):
        return True
    return any(
        _matches(entry.strip().lower(), name, port, address)
        for entry in exceptions.split(",")
        if entry.strip()
    )


def _matches(entry: str, name: str, port: int, address: _Address | None) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        try:
            return address is not None and address in ip_network(entry, strict=False)
        except ValueError:
            return False
    wanted, colon, number = entry.rpartition(":")
    if colon and number.isdecimal() and _address(entry) is None:
        if int(number) != port:
            return False
        entry = wanted
    other = _address(entry.strip("[]"))
    if other is not None or address is not None:
        return other == address
    domain = entry.removeprefix("*").removeprefix(".")
    return name.endswith(f".{domain}") or (name == domain and not entry.startswith(("*", ".")))


def _address(text: str) -> _Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
