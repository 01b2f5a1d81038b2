"""The ID in a resource's status: it leads to that resource, and to nothing else."""

import pytest

from syncret.providers.azurerm.resource_ids import resource_id
from syncret.providers.errors import Malformed

STORAGE = "Microsoft.Storage/storageAccounts"
RULE = "Microsoft.EventHub/namespaces/eventhubs/authorizationRules"
GROUP = "/subscriptions/S-1/resourceGroups/rg"


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        pytest.param(f"{GROUP}/providers/Microsoft.Storage/storageAccounts/shop", STORAGE, id="account"),
        pytest.param(
            "/subscriptions/S-1/resourcegroups/RG/providers/microsoft.storage/storageaccounts/shop",
            STORAGE,
            id="in-other-letters",
        ),
        pytest.param(
            f"{GROUP}/providers/Microsoft.EventHub/namespaces/n/eventhubs/e/authorizationRules/r",
            RULE,
            id="with-parents",
        ),
    ],
)
def test_an_id_is_taken_as_it_is(text: str, type_: str) -> None:
    assert resource_id({"id": text}, type_) == (text, "s-1", type_)


@pytest.mark.parametrize(
    ("id_", "message"),
    [
        pytest.param(None, "has no status.id", id="absent"),
        pytest.param(5, "has no status.id", id="a-number"),
        pytest.param("/subscriptions/s", "not the ID of a resource", id="a-subscription"),
        pytest.param(
            f"{GROUP}/providers/Microsoft.Storage/storageAccounts/..", "not the ID of a resource", id="dots"
        ),
        pytest.param(
            f"{GROUP}/providers/Microsoft.Storage/storageAccounts/a?b", "not the ID of a resource", id="query"
        ),
        pytest.param(
            f"{GROUP}/providers/Microsoft.Storage/storageAccounts/a%2fb",
            "not the ID of a resource",
            id="escaped",
        ),
        pytest.param(
            f"https://elsewhere{GROUP}/providers/Microsoft.Storage/storageAccounts/a",
            "not the ID of a resource",
            id="another-server",
        ),
        pytest.param(
            f"{GROUP}/providers/Microsoft.KeyVault/vaults/v",
            "that of a Microsoft.KeyVault/vaults",
            id="another-type",
        ),
        pytest.param(
            f"{GROUP}/providers/Microsoft.Storage/storageAccounts/a/blobServices/b", "that of a", id="a-child"
        ),
    ],
)
def test_what_leads_elsewhere_is_refused(id_: object, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        resource_id({"id": id_}, STORAGE)
