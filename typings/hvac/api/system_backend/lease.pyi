from collections.abc import Awaitable
from typing import TypeVar

from hvac.api import VaultApiBase

T = TypeVar("T")

class Lease(VaultApiBase[T]):
    def renew_lease(self, lease_id: str, increment: int | None = ...) -> Awaitable[T]: ...
    def revoke_lease(self, lease_id: str) -> Awaitable[T]: ...
