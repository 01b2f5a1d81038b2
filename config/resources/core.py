"""The core kinds of Kubernetes that we use: Secret, ConfigMap, Namespace and ServiceAccount."""

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem
from syncret.config.fields import Bytes, Json, Model, SecretKey
from syncret.config.meta import Document, NullIsEmpty
from syncret.config.paths import write
from syncret.config.resources.base import SERVICE_ACCOUNT_NAME, SERVICE_ACCOUNT_TOKEN, Resource

MAX_SECRET_BYTES: Final = 1024 * 1024
_REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
_JSON: Final = (".dockerconfigjson", ".dockercfg")


class Secret(Resource):
    """Values, in base64; `string_data` is merged into them when the object is stored."""

    type: str = "Opaque"
    data: NullIsEmpty[dict[SecretKey, Bytes]] = {}
    string_data: NullIsEmpty[dict[SecretKey, str]] = {}
    immutable: bool | None = None


class ConfigMap(Resource):
    """Texts that are not secret."""

    data: NullIsEmpty[dict[SecretKey, str]] = {}
    binary_data: NullIsEmpty[dict[SecretKey, Bytes]] = {}
    immutable: bool | None = None


class NamespaceSpec(Model):
    """The finalizers of a namespace."""

    finalizers: tuple[str, ...] = ()


class Namespace(Resource):
    """A namespace; only its labels matter here."""

    spec: NamespaceSpec | None = None
    status: Json = None


class LocalReference(Model):
    """An object of the same namespace."""

    name: str = ""


class ObjectReference(LocalReference):
    """An object, or a part of it."""

    kind: str = ""
    namespace: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""
    field_path: str = ""


class ServiceAccount(Resource):
    """An identity that stores may request tokens for."""

    secrets: tuple[ObjectReference, ...] = ()
    image_pull_secrets: tuple[LocalReference, ...] = ()
    automount_service_account_token: bool | None = None


def stored_data(document: Document) -> dict[str, str]:
    """A Secret's data as it is stored: `stringData` encoded and merged into `data`."""
    texts: Mapping[str, str] = document.get("stringData") or {}
    encoded = {key: b64encode(text.encode(errors="surrogatepass")).decode() for key, text in texts.items()}
    return {**(document.get("data") or {}), **encoded}


def check_secret(secret: Secret, _catalog: Catalog) -> Iterator[Problem]:
    """The API server's rules for a Secret: valid keys, a bounded size, the keys that its type requires."""
    yield from _keys(("data", secret.data), ("stringData", secret.string_data))
    data = {key: b64decode(value) for key, value in secret.data.items()}
    data |= {key: value.encode(errors="surrogatepass") for key, value in secret.string_data.items()}
    if sum(map(len, data.values())) > MAX_SECRET_BYTES:
        yield Problem(path="data", message=f"must have at most {MAX_SECRET_BYTES} bytes in all")
    for key in _REQUIRED.get(secret.type, ()):
        if key not in data:
            yield Problem(path=write(["data", key]), message=f"is required by type {secret.type}")
        elif key in _JSON and not _is_json_object(data[key]):
            yield Problem(
                path=write(["data", key]), message=f"must be a JSON object, as required by type {secret.type}"
            )
        elif key == "ssh-privatekey" and not data[key]:
            yield Problem(
                path=write(["data", key]), message=f"must not be empty, as required by type {secret.type}"
            )
    if secret.type == SERVICE_ACCOUNT_TOKEN and not secret.metadata.annotations.get(SERVICE_ACCOUNT_NAME):
        path = write(["metadata", "annotations", SERVICE_ACCOUNT_NAME])
        yield Problem(path=path, message=f"is required by type {secret.type}")
    if secret.type == "kubernetes.io/basic-auth" and not data.keys() & {"username", "password"}:
        yield Problem(path="data", message=f"username or password is required by type {secret.type}")


def check_config_map(config_map: ConfigMap, _catalog: Catalog) -> Iterator[Problem]:
    """The API server's rules for a ConfigMap: valid keys, each once, and a bounded size."""
    yield from _keys(("data", config_map.data), ("binaryData", config_map.binary_data))
    size = sum(len(text.encode(errors="surrogatepass")) for text in config_map.data.values())
    if size + sum(len(b64decode(value)) for value in config_map.binary_data.values()) > MAX_SECRET_BYTES:
        yield Problem(path="data", message=f"must have at most {MAX_SECRET_BYTES} bytes in all")
    for key in config_map.data.keys() & config_map.binary_data.keys():
        yield Problem(path=write(["binaryData", key]), message="the key is in data, too")


def check_update(previous: Document, document: Document) -> Iterator[Problem]:
    """The fields of a Secret or ConfigMap that may not change: its type; once immutable, all of its data."""
    if (previous.get("type") or "Opaque") != (document.get("type") or "Opaque"):
        yield Problem(path="type", message="field is immutable", hint="delete the object and create it again")
    if not previous.get("immutable"):
        return
    hint = "the object is immutable: delete it and create it again"
    if not document.get("immutable"):
        yield Problem(path="immutable", message="field is immutable when `immutable` is set", hint=hint)
    secret = document.get("kind") == "Secret"
    before, after = [stored_data(one) if secret else one.get("data") or {} for one in (previous, document)]
    if before != after:
        yield Problem(path="data", message="field is immutable when `immutable` is set", hint=hint)
    if (previous.get("binaryData") or {}) != (document.get("binaryData") or {}):
        yield Problem(path="binaryData", message="field is immutable when `immutable` is set", hint=hint)


def _keys(*fields: tuple[str, Mapping[str, str]]) -> Iterator[Problem]:
    for field, values in fields:
        for key in values:
            if key == "." or key.startswith(".."):
                yield Problem(
                    path=write([field, key]),
                    message="a key must not be '.' or begin with '..'",
                    hint="a key becomes the name of a file",
                )


def _is_json_object(value: bytes) -> bool:
    try:
        decoded: Json = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return False
    return decoded is None or isinstance(decoded, dict)
