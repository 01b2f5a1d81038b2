"""The core kinds of Kubernetes that we use: Secret, ConfigMap, Namespace and ServiceAccount."""

from base64 import b64encode
from binascii import a2b_base64
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
    """Values, in base64; `stringData` is merged into them when the object is stored."""

    type: str = "Opaque"
    """Type of the Secret; some types require keys, and the type of an existing Secret cannot change.
    Example: kubernetes.io/tls"""
    data: NullIsEmpty[dict[SecretKey, Bytes]] = {}
    """Values in base64, by key. Example: {password: c2VjcmV0}"""
    string_data: NullIsEmpty[dict[SecretKey, str]] = {}
    """Values as plain text, by key; they win over those in `data`. Example: {password: secret}"""
    immutable: bool | None = None
    """Whether the values can never change: a new value takes a new Secret."""


class ConfigMap(Resource):
    """Texts that are not secret, such as templates and certificates."""

    data: NullIsEmpty[dict[SecretKey, str]] = {}
    """Texts, by key. Example: {ca.crt: '-----BEGIN CERTIFICATE-----'}"""
    binary_data: NullIsEmpty[dict[SecretKey, Bytes]] = {}
    """Bytes in base64, by key; a key may not be in `data`, too. Example: {keystore.p12: MIIJ}"""
    immutable: bool | None = None
    """Whether the texts can never change."""


class NamespaceSpec(Model):
    """The finalizers of a namespace."""

    finalizers: tuple[str, ...] = ()
    """Names of controllers that must clean up before the namespace may go. Example: [kubernetes]"""


class Namespace(Resource):
    """A namespace; only its labels matter here, by which stores and cluster-wide kinds select it."""

    spec: NamespaceSpec | None = None
    """Accepted as by an API server; nothing here reads it."""
    status: Json = None
    """Ignored in a manifest. Example: {phase: Active}"""


class LocalReference(Model):
    """An object of the same namespace."""

    name: str = ""
    """Name of the object. Example: registry-login"""


class ObjectReference(LocalReference):
    """An object, or a part of it."""

    kind: str = ""
    """Kind of the object. Example: Secret"""
    namespace: str = ""
    """Namespace of the object. Example: shop"""
    uid: str = ""
    """Identifier of the object. Example: 6a7c1c5e-0f43-4b5f-9d1b-2f0f3a3c9f10"""
    api_version: str = ""
    """Group and version of the object. Example: v1"""
    resource_version: str = ""
    """Version of the object. Example: '4711'"""
    field_path: str = ""
    """The part of the object that is meant. Example: spec.containers[0]"""


class ServiceAccount(Resource):
    """An identity that stores may request tokens for."""

    secrets: tuple[ObjectReference, ...] = ()
    """Secrets of the account; nothing here reads them. Example: [{name: app-token}]"""
    image_pull_secrets: tuple[LocalReference, ...] = ()
    """Secrets for pulling images; nothing here reads them. Example: [{name: registry-login}]"""
    automount_service_account_token: bool | None = None
    """Whether pods get a token of the account; nothing here reads it."""


def stored_data(document: Document) -> dict[str, str]:
    """A Secret's data as it is stored: `stringData` encoded and merged into `data`."""
    texts: Mapping[str, str] = document.get("stringData") or {}
    encoded = {key: b64encode(text.encode(errors="surrogatepass")).decode() for key, text in texts.items()}
    return {**(document.get("data") or {}), **encoded}


def check_secret(secret: Secret, _catalog: Catalog) -> Iterator[Problem]:
    """The API server's rules for a Secret: valid keys, a bounded size, the keys that its type requires."""
    yield from _keys(("data", secret.data), ("stringData", secret.string_data))
    data = {key: a2b_base64(value) for key, value in secret.data.items()}
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
    if size + sum(len(a2b_base64(value)) for value in config_map.binary_data.values()) > MAX_SECRET_BYTES:
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
