from collections.abc import Awaitable
from typing import TypeVar

from hvac.api import VaultApiBase

T = TypeVar("T")

class AppRole(VaultApiBase[T]):
    def login(
        self, role_id: str, secret_id: str | None = ..., use_token: bool = ..., mount_point: str = ...
    ) -> Awaitable[T]: ...
