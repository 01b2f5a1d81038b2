"""hvac's API classes, imported without the library `requests`, which they never use on our adapter.

It is imported if something asks for it after all, such as another package that uses hvac's own client:
importing it takes longer than all the requests of a small sync, and 10 MB.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Final

__all__ = ["JWT", "AppRole", "Gcp", "Kubernetes", "Ldap", "Lease", "Token"]

_LIBRARY: Final = "requests"
_PARTS: Final = (_LIBRARY, f"{_LIBRARY}.exceptions")


class _OnDemand(ModuleType):
    """Stands for a module that is imported when one of its members is asked for."""

    Response = object
    """Named by hvac in an annotation, when it is imported."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # the import system asks for some
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


@contextmanager
def _on_demand() -> Generator[None]:
    """While this lasts, an import of the library imports nothing."""
    if _LIBRARY in sys.modules:
        yield
        return
    sys.modules |= {part: _OnDemand(part) for part in _PARTS}
    try:
        yield
    finally:
        for part in _PARTS:
            if isinstance(sys.modules.get(part), _OnDemand):
                del sys.modules[part]


with _on_demand():
    from hvac.api.auth_methods import JWT, AppRole, Gcp, Kubernetes, Ldap, Token
    from hvac.api.system_backend.lease import Lease
