"""Rules for specs of stores, shared by the `check` of all providers: namespaces of selectors, addresses.

In a SecretStore a selector names no other namespace than the store's own. In a ClusterSecretStore there are
two kinds of providers: strict ones require the namespace; referent ones, if it is omitted, read the Secret in
the namespace of the ExternalSecret. Whether `name` and `key` may be absent depends on the provider.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from syncret.config.catalog import OTHER_NAMESPACE, Scope
from syncret.config.errors import Problem, Severity
from syncret.config.fields import CAProvider, SecretKeySelector
from syncret.config.settings import MOUNTED_FILES

_BAD_HOST: Final = re.compile(r"[\s\\^`{|}%]|:[^:\]]*[^:\]0-9][^:\]]*$")
_BAD_TEXT: Final = re.compile(r"[\x00-\x1f\x7f]")
_BAD_PATH: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Address(NamedTuple):
    """Scheme and host of a URL; either may be empty."""

    scheme: str
    host: str
    """With its port, without the user."""


def address(url: str) -> Address | None:
    """Scheme and host of a URL; None if it is not valid.

    Python's parser drops tabs and line breaks and accepts any host; the vendors' clients would refuse such
    a URL later.
    """
    if url.startswith(" "):  # a path; Python's parser would drop the space
        return None if ":" in url.split("/", 1)[0] else Address("", "")
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets without an IPv6 address
        return None
    host = parts.netloc.rpartition("@")[2]
    if _BAD_TEXT.search(url) or _BAD_HOST.search(host) or _BAD_PATH.search(parts.path):
        return None
    if not parts.scheme and ":" in url.split("/", 1)[0]:
        return None
    return Address(parts.scheme, host)


NO_NAMESPACE = "cluster scope requires namespace"


class Selector(Protocol):
    """A reference to an object in a namespace: a Secret key, a ServiceAccount, a CA bundle."""

    @property
    def namespace(self) -> str | None: ...


def strict(selector: Selector | None, scope: Scope, path: str, context: str = "") -> Iterator[Problem]:
    """The selector is in the store's namespace, and in a cluster-scoped store it names one.

    `path` is that of the selector; `context` (`invalid Auth.SecretRef`) is put before the message. An absent
    selector has no problem: pass an empty one if the provider treats an absent one like that.
    """
    if selector is None:
        return
    if scope.cluster and selector.namespace is None:
        yield Problem(
            path=f"{path}.namespace",
            message=_in(context, NO_NAMESPACE),
            hint="a ClusterSecretStore has no namespace of its own: write the one that holds the object",
        )
    yield from referent(selector, scope, path, context)


def referent(selector: Selector | None, scope: Scope, path: str, context: str = "") -> Iterator[Problem]:
    """The selector is in the store's namespace; in a cluster-scoped store the namespace may be omitted."""
    if selector is None or scope.cluster or selector.namespace in {None, scope.namespace}:
        return
    yield Problem(
        path=f"{path}.namespace",
        message=_in(context, OTHER_NAMESPACE),
        hint="remove it, or use a ClusterSecretStore to read from another namespace",
    )


def referents(
    selectors: Iterable[tuple[str, str, Selector | None]], scope: Scope, path: str, context: str
) -> Iterator[Problem]:
    """`referent` for the selectors of one object: the field of each, its name in messages, and itself.

    `path` and `context` are those of the object.
    """
    for field, name, selector in selectors:
        yield from referent(selector, scope, f"{path}.{field}", f"{context}.{name}")


def ca_namespace(
    provider: CAProvider | None, scope: Scope, path: str, *, required: str, forbidden: str
) -> Iterator[Problem]:
    """A CA bundle has a namespace in a cluster-scoped store, and none in a SecretStore."""
    if provider is None:
        return
    if scope.cluster and provider.namespace is None:
        yield Problem(path=f"{path}.namespace", message=required, hint="write the namespace of the CA bundle")
    if not scope.cluster and provider.namespace is not None:
        yield Problem(
            path=f"{path}.namespace",
            message=forbidden,
            hint="remove it: the CA bundle is read in the namespace of the store",
        )


def filled(value: object, path: str, message: str, hint: str) -> Iterator[Problem]:
    """A field that the schema allows to be absent or empty, and the provider does not."""
    if not value:
        yield Problem(path=path, message=message, hint=hint)


def complete(selector: SecretKeySelector, path: str, *, no_name: str, no_key: str) -> Iterator[Problem]:
    """Both the Secret and its key are named; the schema requires neither."""
    yield from filled(selector.name, f"{path}.name", no_name, "name the Secret that holds the value")
    yield from filled(selector.key, f"{path}.key", no_key, "write under which key of the Secret the value is")


def value_or_ref(value: str | None, ref: SecretKeySelector | None, path: str) -> Iterator[Problem]:
    """A credential is either in the store itself or in a Secret."""
    if value and ref is not None:
        yield Problem(
            path=path, message="cannot specify both value and reference", hint="keep secretRef, remove value"
        )
    if not value and ref is None:
        yield Problem(path=path, message="must specify either value or reference", hint="write a secretRef")


def _in(context: str, message: str) -> str:
    return f"{context}: {message}" if context else message


def mounted(file: str, path: str) -> Iterator[Problem]:
    """A warning about a file that the daemon reads only if its settings allow it."""
    plain = posixpath.normpath(file)
    if not plain.removeprefix("/var").startswith(f"{MOUNTED_FILES.removeprefix('/var')}/"):
        yield Problem(
            path=path,
            message=f"{file} is outside of {MOUNTED_FILES}: the daemon reads it only if its setting "
            "manifestFiles names a folder above it",
            hint=f"mount the file below {MOUNTED_FILES}, or have the operator add its folder",
            severity=Severity.WARNING,
        )
