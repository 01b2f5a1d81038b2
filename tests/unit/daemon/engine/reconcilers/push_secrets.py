"""PushSecrets of tests, and what is expected of them."""

from syncret.config.fields import Json
from syncret.config.meta import Document
from tests.unit.daemon.engine.life import PUSH, Life, manifest, secret

SYNCED = ("True", "Synced", "PushSecret synced successfully")
NO_SOURCE = ("False", "Errored", "could not get source secret")


def entry(remote: str, key: str = "a", **rest: Json) -> Document:
    return {"match": {"secretKey": key, "remoteRef": {"remoteKey": remote}}, **rest}


def pushing(*entries: Document, **spec: Json) -> Document:
    """A PushSecret that pushes keys of Secret `q` to store `s`."""
    return manifest(
        "PushSecret",
        "p",
        {
            "secretStoreRefs": [{"name": "s"}],
            "selector": {"secret": {"name": "q"}},
            **({"data": list(entries)} if entries else {}),
            **spec,
        },
    )


SOURCE = secret("q", {"a": "1", "b": "2"})


async def account(life: Life) -> dict[str, list[str]]:
    """Store and remote keys, as the status tells them."""
    synced: dict[str, Document] = (await life.status(PUSH)).get("syncedPushSecrets", {})
    return {name: sorted(entries) for name, entries in synced.items()}
