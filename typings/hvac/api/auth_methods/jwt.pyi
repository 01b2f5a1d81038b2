from collections.abc import Awaitable
from typing import TypeVar

from hvac.api import VaultApiBase

T = TypeVar("T")

class JWT(VaultApiBase[T]):
    def jwt_login(
        self, role: str, jwt: str, use_token: bool = ..., path: str | None = ...
    ) -> Awaitable[T]: ...
