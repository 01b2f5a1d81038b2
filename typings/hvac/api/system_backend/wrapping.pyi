from collections.abc import Awaitable
from typing import TypeVar

from hvac.api import VaultApiBase

T = TypeVar("T")

class Wrapping(VaultApiBase[T]):
    def unwrap(self, token: str | None = ...) -> Awaitable[T]: ...
