"""Reads a kubeconfig that stands in a Secret: data only, nothing that names files or runs programs."""

from base64 import b64decode
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.config.yaml import parse_text
from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Malformed
from syncret.providers.kit.http import Tls

_UNSUPPORTED: Final = {
    "exec": "it would run a program",
    "auth-provider": "it would run a program",
    "client-certificate": "it names a file",
    "client-key": "it names a file",
    "tokenFile": "it names a file",
    "certificate-authority": "it names a file",
    "username": "API servers have no passwords any more",
    "tls-server-name": "write the server's name into its URL",
}


class Kubeconfig(NamedTuple):
    """What its current context says."""

    server: str
    tls: Tls
    token: SecretBytes | None


def read(data: bytes) -> Kubeconfig:
    """The current context. Raises Malformed; no message quotes the text."""
    parsed = next(iter(parse_text(data)), None)
    if parsed is None or not is_object(parsed.value):
        raise Malformed("the kubeconfig of authRef is not a YAML mapping", hint="store the file as it is")
    config = parsed.value
    context = _named(config, "contexts", "context", config.get("current-context"))
    cluster = _named(config, "clusters", "cluster", context.get("cluster"))
    user = _named(config, "users", "user", context.get("user"))
    for field in (*cluster, *user):
        if field in _UNSUPPORTED:
            raise Malformed(
                f"the kubeconfig of authRef has {field}: {_UNSUPPORTED[field]}",
                hint="use token, client-certificate-data, client-key-data and certificate-authority-data",
            )
    tls = Tls(
        ca=_decoded(cluster, "certificate-authority-data"),
        certificate=_decoded(user, "client-certificate-data"),
        key=_decoded(user, "client-key-data"),
        verify=cluster.get("insecure-skip-tls-verify") is not True,
    )
    token = user.get("token")
    return Kubeconfig(
        str(cluster.get("server") or ""), tls, SecretBytes(str(token).encode()) if token else None
    )


def _named(config: Document, collection: str, field: str, name: Json) -> Document:
    entries = config.get(collection)
    for entry in entries if is_list(entries) else ():
        if is_object(entry) and entry.get("name") == name and is_object(entry.get(field)):
            found: Document = entry[field]
            return found
    raise Malformed(
        f"the kubeconfig of authRef has no {field} that its current context names",
        hint="set current-context, and keep the cluster and user it leads to",
    )


def _decoded(fields: Document, name: str) -> bytes:
    try:
        return b64decode(str(fields.get(name) or ""), validate=True)
    except ValueError:
        pass
    raise Malformed(
        f"the kubeconfig of authRef: {name} is not base64",
        hint="write the PEM there in base64, without line breaks: base64 -w0",
    )
