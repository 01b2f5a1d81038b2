"""Addresses of servers: what is a URL, and where its server is."""

import pytest

from syncret.providers.kit.spec_rules import Address, address


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param(
            "https://vault.example.com:8200/v1", Address("https", "vault.example.com:8200"), id="port"
        ),
        pytest.param("HTTPS://vault", Address("https", "vault"), id="capitals"),
        pytest.param("http://vault:", Address("http", "vault:"), id="empty-port"),
        pytest.param("http://[::1]:8200/", Address("http", "[::1]:8200"), id="ipv6"),
        pytest.param("http://[::1]", Address("http", "[::1]"), id="ipv6-alone"),
        pytest.param("https://user:word@vault", Address("https", "vault"), id="user"),
        pytest.param("https://user@", Address("https", ""), id="user-alone"),
        pytest.param("https://vault/a%20b c?q=%zz", Address("https", "vault"), id="path-with-space"),
        pytest.param("unix:/run/vault.sock", Address("unix", ""), id="no-host"),
        pytest.param("localhost:8200", Address("localhost", ""), id="host-read-as-scheme"),
        pytest.param("not-a-url", Address("", ""), id="word"),
        pytest.param("/path/", Address("", ""), id="path"),
        pytest.param("", Address("", ""), id="empty"),
        pytest.param("http://a b", None, id="space-in-host"),
        pytest.param("http://vault:port/", None, id="port-in-letters"),
        pytest.param("http://[::1]:port", None, id="ipv6-port-in-letters"),
        pytest.param("http://[vault", None, id="open-bracket"),
        pytest.param("http://va%6Cult", None, id="escape-in-host"),
        pytest.param("http://vault/%zz", None, id="broken-escape"),
        pytest.param("http://vault/\n", None, id="line-break"),
        pytest.param("127.0.0.1:8200", None, id="address-without-scheme"),
        pytest.param(" https://vault", None, id="space-before-scheme"),
        pytest.param(" vault/a:b", Address("", ""), id="space-before-path"),
        pytest.param("://vault", None, id="no-scheme"),
    ],
)
def test_address(url: str, expected: Address | None) -> None:
    assert address(url) == expected
