"""hvac's API classes, imported without the rest of hvac: each is in a module of its own.

hvac's packages import all of it, also its client with the library `requests`, which we never use: that takes
longer than all the requests of a small sync.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Final

__all__ = ["JWT", "AppRole", "Gcp", "Kubernetes", "Ldap", "Lease", "Token"]

_HVAC: Final = "hvac"
_PACKAGES: Final = (_HVAC, f"{_HVAC}.api", f"{_HVAC}.api.auth_methods", f"{_HVAC}.api.system_backend")


@contextmanager
def _as_folders() -> Generator[None]:
    """Within this block hvac's packages are bare namespaces: their `__init__` modules are not run.

    The modules are removed from `sys.modules` afterwards: a later import of hvac gets the whole package.
    """
    found = None if _HVAC in sys.modules else find_spec(_HVAC)
    if found is None:  # the whole package is imported already; or it is not installed, as the next line says
        yield
        return
    sys.modules |= {name: _folder(name, found) for name in _PACKAGES}
    try:
        yield
    finally:
        for name in [each for each in sys.modules if each.partition(".")[0] == _HVAC]:
            del sys.modules[name]


def _folder(name: str, hvac: ModuleSpec) -> ModuleType:
    spec = ModuleSpec(name, None, is_package=True)
    below = name.replace(".", "/").removeprefix(_HVAC)
    spec.submodule_search_locations = [f"{each}{below}" for each in hvac.submodule_search_locations or ()]
    return module_from_spec(spec)


with _as_folders():
    from hvac.api.auth_methods.approle import AppRole
    from hvac.api.auth_methods.gcp import Gcp
    from hvac.api.auth_methods.jwt import JWT
    from hvac.api.auth_methods.kubernetes import Kubernetes
    from hvac.api.auth_methods.ldap import Ldap
    from hvac.api.auth_methods.token import Token
    from hvac.api.system_backend.lease import Lease
