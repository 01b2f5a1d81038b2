"""The table of Azure's secret APIs: which calls names cost, and what is read from an answer."""

import pytest

from syncret.providers.azurerm.picks import picked
from syncret.providers.azurerm.types import TYPES
from tests.unit.providers.azurerm.resources import type_named


@pytest.mark.parametrize(
    ("kind", "names", "actions"),
    [
        pytest.param("storage/StorageAccount", [], [], id="none"),
        pytest.param("storage/StorageAccount", ["key1", "key2"], ["listKeys"], id="one-serves-both"),
        pytest.param("storage/StorageAccount", ["blobEndpoint"], [], id="the-status-has-it"),
        pytest.param("storage/StorageAccount", ["key3"], [], id="nobody-has-it"),
        pytest.param(
            "containerservice/ManagedCluster",
            ["adminCredentials"],
            ["listClusterAdminCredential"],
            id="admin",
        ),
        pytest.param(
            "containerservice/ManagedCluster", ["userCredentials"], ["listClusterUserCredential"], id="user"
        ),
        pytest.param(
            "containerservice/ManagedCluster",
            ["*"],
            ["listClusterAdminCredential", "listClusterUserCredential"],
            id="all",
        ),
        pytest.param(
            "redhatopenshift/OpenShiftCluster", ["username", "password"], ["listCredentials"], id="shared"
        ),
        pytest.param("search/SearchService", ["queryKey"], ["listQueryKeys"], id="query"),
        pytest.param("search/SearchService", ["adminSecondaryKey"], ["listAdminKeys"], id="search-admin"),
        pytest.param("managedidentity/UserAssignedIdentity", ["*"], [], id="there-is-no-api"),
    ],
)
def test_only_the_apis_that_serve_a_name_are_called(kind: str, names: list[str], actions: list[str]) -> None:
    assert [call.action for call in type_named(kind).needed(names)] == actions


def test_no_two_apis_of_a_type_serve_the_same_name() -> None:
    for each in TYPES:
        names = [name for call in each.calls for name in call.names] + list(each.fields)
        assert len(names) == len(set(names)), each.kind


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        pytest.param(
            "storage/StorageAccount", {"keys": [{"keyName": "key2", "value": "b"}]}, {"key2": b"b"}, id="one"
        ),
        pytest.param("storage/StorageAccount", {"keys": [{"keyName": "key1", "value": ""}]}, {}, id="empty"),
        pytest.param("storage/StorageAccount", {"keys": {"key1": "a"}}, {}, id="no-list"),
        pytest.param("storage/StorageAccount", {"keys": ["key1", None]}, {}, id="no-objects"),
        pytest.param("storage/StorageAccount", [], {}, id="no-object"),
        pytest.param("cache/Redis", {"primaryKey": 5, "secondaryKey": None}, {}, id="no-texts"),
        pytest.param(
            "containerservice/ManagedCluster",
            {"kubeconfigs": [{"name": "a", "value": "YQ=="}, {"name": "b", "value": "Yg=="}]},
            {"adminCredentials": b"a"},
            id="the-first-kubeconfig",
        ),
        pytest.param(
            "containerservice/ManagedCluster", {"kubeconfigs": [{"value": "not base64"}]}, {}, id="not-base64"
        ),
        pytest.param(
            "search/SearchService",
            {"value": [{"name": "app", "key": "theirs"}, {"name": None, "key": "ours"}]},
            {"queryKey": b"ours"},
            id="the-entry-without-a-name",
        ),
        pytest.param(
            "search/SearchService",
            {"value": [{"name": "app", "key": "theirs"}]},
            {},
            id="every-one-has-a-name",
        ),
    ],
)
def test_what_an_answer_does_not_have_is_left_out(
    kind: str, answer: object, expected: dict[str, bytes]
) -> None:
    found = picked(answer, type_named(kind).calls[0].names)
    assert {name: value.raw for name, value in found.items()} == expected
