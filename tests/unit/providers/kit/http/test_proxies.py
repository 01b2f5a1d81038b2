"""NO_PROXY as Go reads it."""

import pytest

from syncret.providers.kit.http.proxies import proxy_for


@pytest.mark.parametrize(
    ("exceptions", "host", "direct"),
    [
        pytest.param("", "vault.example", False, id="none"),
        pytest.param("*", "vault.example", True, id="all"),
        pytest.param("example", "vault.example", True, id="a domain has its subdomains"),
        pytest.param("example", "example", True, id="a domain"),
        pytest.param(".example", "example", False, id="subdomains only"),
        pytest.param("*.example", "vault.example", True, id="a star"),
        pytest.param("ample", "vault.example", False, id="not a part of a name"),
        pytest.param("other, Vault.Example", "vault.example", True, id="a list, in any case"),
        pytest.param("vault.example:8200", "vault.example", True, id="with the port"),
        pytest.param("vault.example:443", "vault.example", False, id="with another port"),
        pytest.param("10.0.0.0/8", "10.1.2.3", True, id="a network"),
        pytest.param("10.0.0.0/8", "11.1.2.3", False, id="another network"),
        pytest.param("10.0.0.0/x", "10.1.2.3", False, id="no network"),
        pytest.param("10.1.2.3", "10.1.2.3", True, id="an address"),
        pytest.param("10.1.2.3:8200", "10.1.2.3", True, id="an address with its port"),
        pytest.param("2.3", "10.1.2.3", False, id="no domain of addresses"),
        pytest.param("fd00::/8", "fd00::1", True, id="a network of IPv6"),
        pytest.param("fd00::1", "fd00::1", True, id="an address of IPv6"),
        pytest.param("[fd00::1]:8200", "fd00::1", True, id="IPv6 with its port"),
        pytest.param("[fd00::1]", "fd00::1", True, id="IPv6 in brackets"),
        pytest.param("", "localhost", True, id="localhost"),
        pytest.param("", "127.0.0.5", True, id="loopback"),
        pytest.param("", "::1", True, id="loopback of IPv6"),
        pytest.param("", "169.254.169.254", True, id="the metadata server of a cloud"),
        pytest.param("", "fe80::1", True, id="a neighbour on the link"),
    ],
)
def test_exceptions(exceptions: str, host: str, *, direct: bool) -> None:
    environment = {"HTTPS_PROXY": "proxy.corp:3128", "no_proxy": exceptions}
    expected = None if direct else "http://proxy.corp:3128"

    assert proxy_for("https", host, 8200, environment) == expected


def test_each_scheme_has_its_proxy() -> None:
    environment = {"http_proxy": "http://a:1", "HTTPS_PROXY": "https://u:p@b:2"}

    assert proxy_for("http", "h", 80, environment) == "http://a:1"
    assert proxy_for("https", "h", 443, environment) == "https://u:p@b:2"
    assert proxy_for("https", "h", 443, {}) is None
