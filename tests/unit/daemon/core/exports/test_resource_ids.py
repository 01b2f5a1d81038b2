"""aso.parseResourceId: the parts of IDs, and what is none."""

import pytest

from syncret.daemon.core.exports.cel.resource_ids import parse_resource_id

GROUP = "/subscriptions/s1/resourceGroups/rg"


@pytest.mark.parametrize(
    ("text", "namespace", "kind", "name"),
    [
        ("/subscriptions/s1", "Microsoft.Resources", "subscriptions", "s1"),
        (GROUP, "Microsoft.Resources", "resourceGroups", "rg"),
        (
            f"{GROUP}/providers/Microsoft.Storage/storageAccounts/a",
            "Microsoft.Storage",
            "storageAccounts",
            "a",
        ),
        (
            f"{GROUP}/providers/Microsoft.Sql/servers/a/databases/b/",
            "Microsoft.Sql",
            "servers/databases",
            "b",
        ),
        (f"{GROUP}/providers/A.B/c/d/providers/E.F/g/h", "E.F", "g", "h"),
        ("/providers/A.B/c/d", "A.B", "c", "d"),
        ("/SUBSCRIPTIONS/s1/RESOURCEGROUPS/rg", "Microsoft.Resources", "resourceGroups", "rg"),
        ("/subscriptions/s1/providers/A.B", "Microsoft.Resources", "providers", "A.B"),
    ],
)
def test_parts(text: str, namespace: str, kind: str, name: str) -> None:
    found = parse_resource_id(text)
    assert found["resourceType"] == {"namespace": namespace, "type": kind}
    assert found["name"] == name


def test_what_is_inherited() -> None:
    found = parse_resource_id(f"{GROUP}/providers/Microsoft.Sql/servers/a/databases/b")
    assert (found["subscriptionId"], found["resourceGroupName"]) == ("s1", "rg")
    server = found["parent"]
    assert (server["name"], server["parent"]["name"], server["parent"]["parent"]["name"]) == ("a", "rg", "s1")
    assert server["parent"]["parent"]["parent"]["resourceType"]["type"] == "tenants"


def test_the_location() -> None:
    assert parse_resource_id("/subscriptions/s1/locations/westus")["location"] == "westus"


@pytest.mark.parametrize(
    "text", ["", "/", "a/b", "/a/b", "/subscriptions", f"{GROUP}/providers/A.B/c", f"{GROUP}/x"]
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="not the ID") as caught:
        parse_resource_id(text)
    assert "rg" not in str(caught.value)
