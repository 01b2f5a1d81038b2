"""Servers by name: what a pattern stands for, and which URLs are not understood."""

import pytest

from syncret.config.servers import server_of, server_pattern


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        pytest.param("https://vault.example", "https://vault.example", id="equal"),
        pytest.param(
            "https://vault.example/", "https://vault.example:443/v1/x?y#z", id="path-and-usual-port"
        ),
        pytest.param("vault.example:8200", "https://vault.example:8200", id="https-is-meant"),
        pytest.param("http://vault.example", "http://vault.example:80", id="http-as-written"),
        pytest.param("Vault.Example", "HTTPS://vault.EXAMPLE", id="case"),
        pytest.param("*.vault.azure.net", "https://a-b.vault.azure.net/", id="any-label"),
        pytest.param("sts.*.amazonaws.com", "https://sts.eu-west-1.amazonaws.com", id="label-within"),
        pytest.param("http://127.0.0.1:8200", "http://127.0.0.1:8200", id="v4"),
        pytest.param("https://[::1]:8200", "https://[::1]:8200/", id="v6"),
    ],
)
def test_a_pattern_covers(pattern: str, url: str) -> None:
    wanted, found = server_pattern(pattern), server_of(url)
    assert wanted is not None
    assert found is not None
    assert wanted.covers(found)


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        pytest.param("vault.example", "http://vault.example", id="no-tls"),
        pytest.param("vault.example", "https://vault.example:8200", id="another-port"),
        pytest.param("vault.example", "https://vault.example.evil", id="longer"),
        pytest.param("*.vault.azure.net", "https://vault.azure.net", id="the-parent"),
        pytest.param("*.vault.azure.net", "https://a.b.vault.azure.net", id="two-labels"),
        pytest.param("*.vault.azure.net", "https://evil/.vault.azure.net", id="path"),
        pytest.param("*.vault.azure.net", "https://evil#.vault.azure.net", id="fragment"),
        pytest.param("*.vault.azure.net", "https://evil?a.vault.azure.net", id="query"),
    ],
)
def test_a_pattern_does_not_cover(pattern: str, url: str) -> None:
    wanted, found = server_pattern(pattern), server_of(url)
    assert wanted is not None
    assert found is not None
    assert not wanted.covers(found)


@pytest.mark.parametrize(
    "url",
    [
        "vault.example",
        "https://user@vault.example",
        "https://evil\\@vault.example",
        "https://vault.example\\.evil",
        "https://vault\t.example",
        " https://vault.example",
        "https://vault.example:x",
        "https://vault.example:99999",
        "https://vault.example.",
        "https://*.example",
        "https://vаult.example",  # noqa: RUF001  # another alphabet
        "ftp://vault.example",
        "https://",
        "",
    ],
)
def test_urls_that_are_not_understood(url: str) -> None:
    assert server_of(url) is None


@pytest.mark.parametrize("text", ["https://a.example/path", "a*.example", "user@a.example", "", "*.*.x:0"])
def test_what_is_no_pattern(text: str) -> None:
    assert server_pattern(text) is None


@pytest.mark.parametrize("text", ["https://vault.example", "http://*.example:8200", "https://[::1]:1"])
def test_a_server_is_written_as_it_was(text: str) -> None:
    assert str(server_pattern(text)) == text
