"""The rules on which namespaces a store may refer to, shared by every provider's `check`.

In a SecretStore a selector names no other namespace than the store's own. In a ClusterSecretStore there are
two sorts of provider: strict ones want the namespace written; referent ones, when it is omitted, read the
Secret beside the ExternalSecret that asks. Whether `name` and `key` may be left out each provider says itself.
"""

from collections.abc import Iterator
from typing import Protocol

from syncret.config.catalog import Scope
from syncret.config.errors import Problem

OTHER_NAMESPACE = (
    "namespace should either be empty or match the namespace of the SecretStore for a namespaced SecretStore"
)
NO_NAMESPACE = "cluster scope requires namespace"


class Selector(Protocol):
    """Whatever points at an object in a namespace: a key of a Secret, a ServiceAccount, a CA bundle."""

    @property
    def namespace(self) -> str | None: ...


def strict(selector: Selector | None, scope: Scope, path: str, context: str = "") -> Iterator[Problem]:
    """The selector stays in the store's namespace, and in a cluster-scoped store it names one.

    `path` is the selector's own; `context` (`invalid Auth.SecretRef`) goes before the message. An absent
    selector has no problem: pass an empty one where the provider judges the absent as it judges the empty.
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
    """The selector stays in the store's namespace; a cluster-scoped store may leave the namespace open."""
    if selector is None or scope.cluster or selector.namespace in {None, scope.namespace}:
        return
    yield Problem(
        path=f"{path}.namespace",
        message=_in(context, OTHER_NAMESPACE),
        hint="remove it, or use a ClusterSecretStore to read from another namespace",
    )


def filled(value: object, path: str, message: str, hint: str) -> Iterator[Problem]:
    """A field that the schema lets be absent or empty, and the provider does not."""
    if not value:
        yield Problem(path=path, message=message, hint=hint)


def _in(context: str, message: str) -> str:
    return f"{context}: {message}" if context else message
