from collections.abc import Awaitable
from typing import TypeVar

from hvac.api import VaultApiBase

T = TypeVar("T")

class Gcp(VaultApiBase[T]):
    def login(self, role: str, jwt: str, use_token: bool = ..., mount_point: str = ...) -> Awaitable[T]: ...
