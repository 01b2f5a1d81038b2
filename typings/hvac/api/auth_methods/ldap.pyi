from collections.abc import Awaitable
from typing import TypeVar

from hvac.api import VaultApiBase

T = TypeVar("T")

class Ldap(VaultApiBase[T]):
    def login(
        self, username: str, password: str, use_token: bool = ..., mount_point: str = ...
    ) -> Awaitable[T]: ...
