"""Akeyless: static, rotated and dynamic secrets and certificates, in the cloud or through a gateway.

spec        the spec of a store, its rules     client     the endpoints, the client of a store
connection  opens a store                      auth       the logins; the token is part of each body
receivers   the server, which gets proofs      aws, azure, google   the proofs of an identity at a cloud
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.akeyless.receivers import receivers
from syncret.providers.akeyless.spec import AkeylessSpec, check
from syncret.providers.contract import OnFirstUse, Provider

PROVIDER: Final = Provider(
    SpecType("akeyless", AkeylessSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.akeyless.connection"),
    batch_size=50,
    receivers=receivers,
)
