"""What a generator is given in tests."""

from syncret.config.catalog import Scope
from syncret.config.meta import ObjectRef
from syncret.providers.contract import OpenContext, SecretBytes
from syncret.providers.errors import Malformed

NOW = 1_234_567_890.0


class Secrets:
    """Keys of Secrets, from a table."""

    def __init__(self, keys: dict[tuple[str, str], bytes]) -> None:
        self._keys = keys

    async def secret_key(self, name: str, key: str, namespace: str | None = None) -> SecretBytes:
        assert namespace is None
        if (name, key) not in self._keys:
            raise Malformed(f"{name} has no key {key}")
        return SecretBytes(self._keys[name, key])

    async def config_map_key(self, name: str, key: str, namespace: str | None = None) -> str:
        raise Malformed(f"no generator reads the ConfigMap {namespace}/{name}/{key}")


def context(keys: dict[tuple[str, str], bytes] | None = None) -> OpenContext:
    return OpenContext(
        store=ObjectRef("generators.external-secrets.io", "Password", "default", "g"),
        scope=Scope(cluster=False, namespace="default"),
        credentials=Secrets(keys or {}),
        now=lambda: NOW,
        keep={},
    )
