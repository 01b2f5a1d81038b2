"""Values that are read once from stores given as documents: in order, each with its own failure."""

from syncret.config.meta import Document
from syncret.config.settings_layers import DEFAULTS
from syncret.daemon.one_read import Unread, Wanted, read_values
from syncret.providers.registry import Registry
from syncret.providers.values import SecretBytes

STORE: Document = {
    "apiVersion": "external-secrets.io/v1",
    "kind": "SecretStore",
    "metadata": {"name": "store", "namespace": "shop"},
    "spec": {
        "provider": {"fake": {"data": [{"key": "a", "value": "one"}, {"key": "b", "value": '{"c":"two"}'}]}}
    },
}
REF: Document = {"kind": "SecretStore", "name": "store"}


def wanted(key: str, prop: str = "", namespace: str = "shop") -> Wanted:
    return Wanted(REF, namespace, key, prop)


def test_values_come_in_the_order_in_which_they_are_wanted() -> None:
    asked = [wanted("b", "c"), wanted("a"), wanted("b", "c")]
    assert read_values([STORE], asked, DEFAULTS, Registry()) == [
        SecretBytes(b"two"),
        SecretBytes(b"one"),
        SecretBytes(b"two"),
    ]


def test_one_that_fails_does_not_stop_the_others() -> None:
    missing, there = read_values([STORE], [wanted("nothing"), wanted("a")], DEFAULTS, Registry())
    assert isinstance(missing, Unread)
    assert "nothing" in missing.message
    assert there == SecretBytes(b"one")


def test_a_store_of_another_namespace_is_not_there() -> None:
    (found,) = read_values([STORE], [wanted("a", namespace="other")], DEFAULTS, Registry())
    assert isinstance(found, Unread)
    assert "store" in found.message


def test_a_store_that_admission_refuses_says_why() -> None:
    broken: Document = {**STORE, "spec": {"provider": {"fak": {}}}}
    (found,) = read_values([broken], [wanted("a")], DEFAULTS, Registry())
    assert isinstance(found, Unread)
    assert "SecretStore/store is not valid" in found.message
    assert "fak" in found.message
