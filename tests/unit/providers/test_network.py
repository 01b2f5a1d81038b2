"""Egress: which hosts and addresses may be reached, and what is said of the others."""

from collections.abc import Iterable
from ipaddress import ip_address

import pytest

from syncret.providers.errors import Denied
from syncret.providers.network import Egress, Network

DEFAULT = Egress(deny=("link-local", "metadata"))


def allowed(egress: Egress, host: str, *addresses: str) -> list[str]:
    return [str(address) for address in egress.allowed(host, [ip_address(each) for each in addresses])]


def test_what_is_denied_by_address() -> None:
    with pytest.raises(Denied) as caught:
        DEFAULT.check_host("169.254.169.254")
    assert str(caught.value) == "169.254.169.254 may not be reached: egress.deny has link-local"
    assert caught.value.hint == "write it into the setting egress.allow, if stores may reach it"


@pytest.mark.parametrize(
    "host", ["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1%1", "168.63.129.16"]
)
def test_an_address_in_other_words(host: str) -> None:
    with pytest.raises(Denied):
        DEFAULT.check_host(host)


@pytest.mark.parametrize("host", ["10.0.0.1", "127.0.0.1", "vault", "::1"])
def test_what_nothing_denies(host: str) -> None:
    DEFAULT.check_host(host)


def test_a_name_is_judged_by_its_addresses() -> None:
    with pytest.raises(Denied, match=r"rebound.example \(169\.254\.169\.254\) may not be reached"):
        allowed(DEFAULT, "rebound.example", "169.254.169.254", "::ffff:169.254.169.254")


def test_of_several_addresses_the_denied_ones_are_left_out() -> None:
    assert allowed(DEFAULT, "both.example", "169.254.1.1", "10.0.0.1") == ["10.0.0.1"]


def test_a_host_without_addresses_is_not_denied() -> None:
    assert allowed(DEFAULT, "none.example") == []


@pytest.mark.parametrize(
    "entries",
    [("169.254.169.254",), ("169.254.0.0/16",), ("link-local",), ("metadata.internal",), ("*.internal",)],
)
def test_an_exception(entries: Iterable[str]) -> None:
    egress = Egress(allow=entries, deny=("link-local",))
    assert allowed(egress, "metadata.internal", "169.254.169.254") == ["169.254.169.254"]


def test_all_but_what_is_written_down() -> None:
    egress = Egress(allow=("vault.example", "10.1.0.0/16"), deny=("all",))
    assert allowed(egress, "vault.example", "192.0.2.1") == ["192.0.2.1"]
    assert allowed(egress, "other.example", "10.1.2.3") == ["10.1.2.3"]
    with pytest.raises(Denied, match=r"egress\.deny has all"):
        allowed(egress, "other.example", "192.0.2.1")


def test_a_name_that_is_denied() -> None:
    egress = Egress(deny=("*.internal",))
    with pytest.raises(Denied, match=r"a.INTERNAL. may not be reached: egress.deny has \*.internal"):
        egress.check_host("a.INTERNAL.")


async def test_resolving() -> None:
    network = Network(egress=DEFAULT)
    assert str(await network.resolve("127.0.0.1")) == "127.0.0.1"
    with pytest.raises(Denied):
        await network.resolve("169.254.169.254")
    with pytest.raises(Denied, match=r"2852039166 \(169.254.169.254\)"):
        await network.resolve("2852039166")
