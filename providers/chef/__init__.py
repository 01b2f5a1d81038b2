"""Chef Infra Server: items of data bags, read and written as one user or client.

spec     the spec of a store, its rules     client      the endpoints, the client of a store
signing  signs each request                 connection  opens a store
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.chef.spec import ChefSpec, check
from syncret.providers.contract import OnFirstUse, Provider

PROVIDER: Final = Provider(
    SpecType("chef", ChefSpec, check=check), open=OnFirstUse("syncret.providers.chef.connection")
)
