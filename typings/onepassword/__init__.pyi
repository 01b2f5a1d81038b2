# The part of 1Password's SDK that is used.

from collections.abc import Callable, Sequence
from enum import Enum, StrEnum

class RateLimitExceededException(Exception): ...

class ItemCategory(StrEnum):
    SERVER = "Server"
    DOCUMENT = "Document"

class ItemFieldType(StrEnum):
    CONCEALED = "Concealed"
    TEXT = "Text"
    EMAIL = "Email"
    URL = "Url"
    PHONE = "Phone"
    DATE = "Date"
    MONTHYEAR = "MonthYear"

class FileAttributes:
    name: str
    id: str

class ItemFile:
    attributes: FileAttributes

class ItemField:
    id: str
    title: str
    section_id: str | None
    field_type: ItemFieldType
    value: str
    def __init__(self, *, id: str, title: str, field_type: ItemFieldType, value: str) -> None: ...  # noqa: A002

class ItemSection:
    id: str
    title: str

class ItemOverview:
    id: str
    title: str
    tags: list[str]

class Item(ItemOverview):
    category: ItemCategory
    vault_id: str
    fields: list[ItemField]
    sections: list[ItemSection]
    files: list[ItemFile]
    document: FileAttributes | None
    def model_copy(self, *, deep: bool = ...) -> Item: ...

class ItemCreateParams:
    def __init__(
        self,
        *,
        category: ItemCategory,
        vault_id: str,
        title: str,
        fields: list[ItemField],
        tags: list[str] | None,
    ) -> None: ...

class VaultOverview:
    id: str
    title: str

class _Error:
    type: Enum

class _ItemResponse:
    content: Item | None
    error: _Error | None

class _Resolved:
    secret: str

class _ResolveResponse:
    content: _Resolved | None
    error: _Error | None

class ItemsGetAllResponse:
    individual_responses: list[_ItemResponse]

class ResolveAllResponse:
    individual_responses: dict[str, _ResolveResponse]

class EnvironmentVariable:
    name: str
    value: str

class GetVariablesResponse:
    variables: list[EnvironmentVariable]

class ItemsFiles:
    async def read(self, vault_id: str, item_id: str, attr: FileAttributes) -> bytes: ...

class Items:
    files: ItemsFiles
    async def list(self, vault_id: str) -> list[ItemOverview]: ...
    async def get_all(self, vault_id: str, item_ids: Sequence[str]) -> ItemsGetAllResponse: ...
    async def create(self, params: ItemCreateParams) -> Item: ...
    async def put(self, item: Item) -> Item: ...
    async def delete(self, vault_id: str, item_id: str) -> None: ...

class Secrets:
    async def resolve_all(self, secret_references: list[str]) -> ResolveAllResponse: ...

class Vaults:
    async def list(self) -> list[VaultOverview]: ...

class Environments:
    async def get_variables(self, environment_id: str) -> GetVariablesResponse: ...

class Client:
    secrets: Secrets
    items: Items
    vaults: Vaults
    environments: Environments
    _finalizer: Callable[[], object]
    @classmethod
    async def authenticate(cls, auth: str, integration_name: str, integration_version: str) -> Client: ...
