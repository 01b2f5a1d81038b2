"""A store of Akeyless that logs in by a cloud."""

from contextlib import AbstractAsyncContextManager

from syncret.config.fields import Json
from syncret.providers.akeyless import PROVIDER
from syncret.providers.akeyless.client import AkeylessClient
from syncret.providers.akeyless.connection import open_store
from syncret.providers.kit.ambient.door import Door
from tests.support.opened import NOW, Given, context
from tests.support.servers.akeyless.server import Akeyless
from tests.support.specs import spec_of


def spec(server: Akeyless, parameter: str | None = None, account: Json = None) -> Json:
    fields = {
        "accessID": "id",
        "accessType": "type",
        **({} if parameter is None else {"accessTypeParam": "p"}),
    }
    selected = {field: {"name": "login", "key": key} for field, key in fields.items()}
    auth: dict[str, Json] = {"secretRef": selected}
    if account is not None:
        auth["serviceAccountRef"] = account
    return {"akeylessGWApiURL": server.url, "authSecretRef": auth}


def opened(
    server: Akeyless,
    kind: str,
    parameter: str | None = None,
    *,
    account: Json = None,
    given: Given | None = None,
    door: Door | None = None,
) -> AbstractAsyncContextManager[AkeylessClient]:
    given = given or Given()
    given.secrets["login"] = {"id": b"p-2", "type": kind.encode(), "p": (parameter or "").encode()}
    return open_store(
        spec_of(PROVIDER, spec(server, parameter, account)), context(given, now=lambda: NOW, door=door)
    )
