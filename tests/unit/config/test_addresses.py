"""Addresses and hosts of the setting `egress`: what an entry covers, and which texts are none."""

from ipaddress import ip_address

import pytest

from syncret.config.addresses import address_of_host, address_rule


@pytest.mark.parametrize(
    ("entry", "address", "covered"),
    [
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.1.2.3/8", "10.9.9.9", True),
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::/32", "2001:db8::1", True),
        ("[2001:db8::1]", "2001:db8::1", True),
        ("2001:db8::/32", "10.0.0.1", False),
        ("all", "8.8.8.8", True),
        ("all", "2001:db8::1", True),
        ("link-local", "169.254.169.254", True),
        ("Link-Local", "fe80::1", True),
        ("link-local", "10.0.0.1", False),
        ("loopback", "127.8.8.8", True),
        ("loopback", "0.0.0.0", True),  # noqa: S104  # nothing is bound
        ("private", "172.31.0.1", True),
        ("private", "172.32.0.1", False),
        ("metadata", "168.63.129.16", True),
        ("metadata", "fd00:ec2::254", True),
    ],
)
def test_addresses(entry: str, address: str, covered: bool) -> None:  # noqa: FBT001  # a column of the table
    rule = address_rule(entry)
    assert rule.covers_address(ip_address(address)) is covered
    assert not rule.covers_host(address)


@pytest.mark.parametrize(
    ("entry", "host", "covered"),
    [
        ("vault.example.com", "vault.example.com", True),
        ("Vault.Example.com.", "vault.example.com", True),
        ("vault.example.com", "evil-vault.example.com", False),
        ("vault.example.com", "a.vault.example.com", False),
        ("*.example.com", "vault.example.com", True),
        ("*.example.com", "a.b.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "evilexample.com", False),
        ("localhost", "localhost", True),
        ("3com.example", "3com.example", True),
    ],
)
def test_hosts(entry: str, host: str, covered: bool) -> None:  # noqa: FBT001  # a column of the table
    rule = address_rule(entry)
    assert rule.covers_host(host) is covered
    assert not rule.covers_address(ip_address("192.0.2.1"))


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "10.0.0.0/33",
        "10.0.0.256",
        "300",
        "1.2.3",
        "https://vault",
        "vault:8200",
        "a b",
        "*",
        "a.*.com",
        "-a",
    ],
)
def test_what_is_no_entry(entry: str) -> None:
    with pytest.raises(ValueError, match="is neither an address"):
        address_rule(entry)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("169.254.169.254", "169.254.169.254"),
        ("::ffff:169.254.169.254", "169.254.169.254"),
        ("[::ffff:a9fe:a9fe]", "169.254.169.254"),
        ("64:ff9b::a9fe:a9fe", "169.254.169.254"),
        ("fe80::1%eth0", "fe80::1"),
    ],
)
def test_the_address_that_a_host_is(host: str, address: str) -> None:
    assert str(address_of_host(host)) == address


@pytest.mark.parametrize("host", ["vault", "1.2.3", "2852039166", ""])
def test_a_host_that_is_no_address(host: str) -> None:
    assert address_of_host(host) is None
